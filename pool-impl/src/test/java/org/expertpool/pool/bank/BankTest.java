package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;

class BankTest {
    @Test
    void rowsKeepTheirBytesAcrossSlabs() {
        Bank bank = new Bank(11, 48, 150); // three rows a slab
        for (int row = 0; row < 11; row++) {
            bank.write(row, bytes(row, 48));
        }
        for (int row = 0; row < 11; row++) {
            assertThat(bank.row(row)).isEqualTo(bytes(row, 48));
        }
        assertThat(bank.bytes()).isEqualTo(528);
    }

    @Test
    void fillTouchesOneRow() {
        Bank bank = new Bank(3, 16, 40);
        bank.fill(1, (byte) 0xFF);
        assertThat(bank.row(0)).isEqualTo(ByteBuffer.allocate(16));
        assertThat(bank.row(1).getLong(8)).isEqualTo(-1L);
        assertThat(bank.row(2)).isEqualTo(ByteBuffer.allocate(16));
    }

    @Test
    void viewsAreReadOnlyAndLittleEndian() {
        Bank bank = new Bank(1, 16);
        bank.write(0, ByteBuffer.allocate(16).put(0, (byte) 1));
        ByteBuffer view = bank.row(0);
        assertThat(view.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(view.getInt(0)).isEqualTo(1);
        assertThatThrownBy(() -> view.put(0, (byte) 2)).isInstanceOf(ReadOnlyBufferException.class);
    }

    @Test
    void writingLeavesTheSourceWhereItWas() {
        Bank bank = new Bank(1, 16);
        ByteBuffer source = bytes(3, 16);
        bank.write(0, source);
        assertThat(source.position()).isZero();
    }

    @Test
    void refusesWhatDoesNotFit() {
        assertThatThrownBy(() -> new Bank(0, 16))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("rows is 0");
        assertThatThrownBy(() -> new Bank(1, 1L << 31))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("2147483648");
        Bank bank = new Bank(2, 16);
        assertThatThrownBy(() -> bank.row(2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> bank.row(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> bank.write(0, bytes(0, 15))).hasMessageContaining("15 bytes, expected 16");
    }

    private static ByteBuffer bytes(int seed, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count);
        for (int i = 0; i < count; i++) {
            bytes.put(i, (byte) (seed * 31 + i * 7));
        }
        return bytes;
    }
}
