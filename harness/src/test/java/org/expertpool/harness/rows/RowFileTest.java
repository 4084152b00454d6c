package org.expertpool.harness.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SyntheticExperts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows come back from their file as they were made, and from no file that differs in one bit. */
class RowFileTest {
    private static final SyntheticExperts EXPERTS = new SyntheticExperts(3, 2, 5, new ExpertRowLayout(128, 64));
    private static final RowContent CONTENT = RowContent.seeded("small", EXPERTS);

    @TempDir
    private Path folder;

    private Path path;

    @BeforeEach
    void make() throws IOException {
        path = folder.resolve(CONTENT.fileName());
        new RowFile(path, CONTENT).make(layer -> {});
    }

    @Test
    void rowsAndAlphasAreThoseThatWereMade() throws IOException {
        HostSource expected = EXPERTS.hostSource();
        RowFile.Mapped mapped = new RowFile(path, CONTENT).open();
        for (int layer = 0; layer < 2; layer++) {
            for (int expert = 0; expert < 5; expert++) {
                assertThat(mapped.rows().row(layer, expert)).isEqualTo(expected.row(layer, expert));
            }
            assertThat(mapped.slabs().get(layer).isReadOnly()).isTrue();
        }
        assertThat(mapped.rows().alphas()).isEqualTo(expected.alphas());
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(path);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, header: damaged", // magic
        "12, header: damaged", // layers
        "32, header: damaged", // sum of the alphas
        "36, header: damaged", // sum of a slab
        "50, header: damaged", // words
        "60000, header: damaged", // nothing
        "65535, header: damaged", // its own sum
        "65540, rows: damaged", // alphas
        "69632, rows: damaged", // first row
        "-4096, rows: damaged", // last slab
    })
    void oneWrongBitIsRefused(int at, String reason) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        bytes[at < 0 ? bytes.length + at : at] ^= 4;
        Files.write(path, bytes);
        refused(CONTENT, reason);
    }

    @Test
    void aTruncatedFileIsRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        Files.write(path, Arrays.copyOf(bytes, bytes.length - 1));
        refused(CONTENT, "has " + (bytes.length - 1) + " bytes, expected " + bytes.length);
    }

    @Test
    void otherRowsOfTheSameShapeAreRefused() {
        RowContent other = RowContent.seeded("small", new SyntheticExperts(4, 2, 5, EXPERTS.layout()));
        refused(other, "header: of other rows, expected seeded experts, seed 4, bf16, rows ");
    }

    @Test
    void whereMakingFailsThereIsNoFile() throws IOException {
        RowContent failing = new RowContent("x.rows", "x", EXPERTS.layout(), EXPERTS.type(), 2, 5, (memory, filled) -> {
            throw new IllegalStateException("no rows");
        });
        assertThatThrownBy(() -> new RowFile(folder.resolve("x.rows"), failing).make(layer -> {}))
                .hasMessage("no rows");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(path);
        }
    }

    private void refused(RowContent content, String reason) {
        assertThatThrownBy(() -> new RowFile(path, content).open())
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("host rows " + path + ": " + reason);
    }
}
