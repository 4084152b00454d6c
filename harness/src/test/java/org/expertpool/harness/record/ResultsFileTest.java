package org.expertpool.harness.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsFileTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void setUp() {
        file = folder.resolve("results.csv");
    }

    @Test
    void resumeAfterACutAtAnyByteKeepsTheWholeLinesAlone() throws IOException {
        try (ResultsFile results = ResultsFile.create(file)) {
            results.append(row(1));
            results.append(row(2));
        }
        byte[] whole = Files.readAllBytes(file);
        int header = ResultsCsv.header().length();
        // Every byte of the rows, and a few of the header.
        for (int cut = 0; cut <= whole.length; cut += cut < header - 5 ? 150 : 1) {
            Files.write(file, Arrays.copyOf(whole, cut));
            int lines = 0;
            for (int i = 0; i < cut; i++) {
                lines += whole[i] == '\n' ? 1 : 0;
            }
            try (ResultsFile results = ResultsFile.resume(file)) {
                assertThat(results.rows()).as("cut at byte %d", cut).hasSize(Math.max(0, lines - 1));
                for (int missing = results.rows().size(); missing < 2; missing++) {
                    results.append(row(missing + 1));
                }
            }
            assertThat(Files.readAllBytes(file)).isEqualTo(whole);
        }
    }

    @Test
    void aSecondWriterIsRefused() throws IOException {
        try (ResultsFile results = ResultsFile.create(file)) {
            results.append(row(1));
            assertThatThrownBy(() -> ResultsFile.resume(file))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("another run is writing it");
        }
        try (ResultsFile results = ResultsFile.resume(file)) {
            assertThat(results.rows()).hasSize(1);
        }
    }

    @Test
    void createRefusesAFileThatExists() throws IOException {
        Files.writeString(file, "");
        assertThatThrownBy(() -> ResultsFile.create(file)).isInstanceOf(BadInputException.class);
    }

    @Test
    void resumeRefusesAnotherHeaderAndLeavesTheFileAlone() throws IOException {
        String other = ResultsCsv.header().replace(",note", ",remark");
        Files.writeString(file, other);
        assertThatThrownBy(() -> ResultsFile.resume(file))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("line 1");
        assertThat(Files.readString(file)).isEqualTo(other);
    }

    @Test
    void resumeRefusesAFileThatNoRunWroteAndLeavesItAlone() throws IOException {
        for (String other : new String[] {"a,b\n1,2", "no line end"}) {
            Files.writeString(file, other);
            assertThatThrownBy(() -> ResultsFile.resume(file)).isInstanceOf(BadInputException.class);
            assertThat(Files.readString(file)).isEqualTo(other);
        }
    }

    private static ResultRow row(int number) {
        return ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("experiment", "test")
                .put("cell", "rows=" + number)
                .put("repetition", 1)
                .put("status", "ok")
                .put("basis", "modelled")
                .put("note", "caf\u00e9, \"quoted\"")
                .build();
    }
}
