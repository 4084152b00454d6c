package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenTableTest {
    private static final int ROW_BYTES = 3 << 20; // so that a map does not end where a gigabyte does

    @TempDir
    Path folder;

    @Test
    void rowsOnBothSidesOfAMapsEnd() throws IOException {
        Path file = folder.resolve("table");
        long rows = 700; // 2.05 GiB
        TokenTable made = TokenTable.create(file, rows, ROW_BYTES);
        long[] written = {0, 340, 341, 342, 681, 682, 699};
        for (long row : written) {
            made.write(row, bytes((byte) (row % 127 + 1)));
        }
        assertThat(Files.size(file)).isEqualTo(rows * ROW_BYTES);
        TokenTable opened = TokenTable.open(file, rows, ROW_BYTES);
        ByteBuffer buffer = ByteBuffer.allocate(ROW_BYTES + 5);
        for (long row : written) {
            opened.read(row, buffer, 5);
            byte[] read = new byte[ROW_BYTES];
            buffer.get(5, read);
            assertThat(read).isEqualTo(bytes((byte) (row % 127 + 1)));
        }
        opened.read(500, buffer, 5);
        assertThat(buffer.get(5)).isZero();
        assertThatThrownBy(() -> opened.read(rows, buffer, 0))
                .isInstanceOf(BadInputException.class)
                .hasMessage("token row is 700, expected 0 to 699");
    }

    @Test
    void refusesAFileOfAnotherSize() throws IOException {
        Path file = Files.write(folder.resolve("short"), new byte[7]);
        assertThatThrownBy(() -> TokenTable.open(file, 2, 4))
                .isInstanceOf(BadInputException.class)
                .hasMessage(file + ": 7 bytes, expected 2 rows of 4");
        assertThatThrownBy(() -> TokenTable.create(file.resolveSibling("none"), 0, 4))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("token table: 0 rows of 4 bytes, expected at least one of each");
    }

    private static byte[] bytes(byte value) {
        byte[] bytes = new byte[ROW_BYTES];
        Arrays.fill(bytes, value);
        return bytes;
    }
}
