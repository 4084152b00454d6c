package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run of policies over merged streams: parts of the misses, scopes that names set, warnings, cells taken apart. */
class LabRunTest {
    private static final String DEFINITION = """
            name = "lab"
            question = "Which?"
            expectation = "None."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 120
            streams = 2
            shuffle_seed = 3

            [window.warm]
            initial = "first-n"
            score_from = 10

            [axes]
            window = "warm"
            scope = "layer"
            decode_tokens = 2
            rows = [6, 9, 16]
            policy = ["lru", "lru+scope.miss-curve", "promote.nth-touch(2,4)", "static", "belady", "belady-forced"]

            [details]
            where = { policy = "evict.lru", scope = "layer", rows_per_layer = 9 }
            stretch_forwards = 16
            """;

    @TempDir
    private Path folder;

    private Path out;
    private Map<String, ResultRow> rows;

    @BeforeEach
    void run() throws IOException {
        Path file = Files.writeString(folder.resolve("lab.toml"), DEFINITION);
        out = folder.resolve("out");
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        assertThat(new Experiments(nowhere, nowhere).run(Definitions.request(file, "model", out)))
                .isTrue();
        rows = ResultsCsv.readDirectory(out).stream()
                .collect(Collectors.toMap(row -> row.text("cell"), Function.identity()));
    }

    private static long count(ResultRow row, String column) {
        return (long) row.number(column).orElseThrow();
    }

    private ResultRow cell(String policy, int rowsPerLayer) {
        return rows.get("policy=" + policy + ",rows=" + rowsPerLayer);
    }

    @Test
    void partsAddUpToTheMissesAndBoundsHaveNoVictimPart() {
        assertThat(rows).hasSize(18);
        for (ResultRow row : rows.values()) {
            assertThat(count(row, "compulsory_misses")
                            + count(row, "capacity_misses")
                            + count(row, "admission_misses")
                            + count(row, "victim_misses"))
                    .isEqualTo(count(row, "misses"));
            assertThat(count(row, "forwards")).isEqualTo(60); // the last ones with one stream
            assertThat(count(row, "tokens")).isEqualTo(100);
            assertThat(row.number("inserts_per_100").orElseThrow() * count(row, "selections") / 100)
                    .isCloseTo((double) count(row, "promoted"), within(1e-4));
        }
        ResultRow forced = cell("bound.belady-forced", 9);
        assertThat(count(forced, "victim_misses")).isZero();
        ResultRow bypass = cell("bound.belady", 9);
        assertThat(count(bypass, "victim_misses")).isEqualTo(-count(bypass, "admission_misses"));
        assertThat(count(bypass, "misses")).isLessThan(count(cell("evict.lru", 9), "misses"));
        assertThat(count(cell("evict.lru", 9), "victim_misses")).isPositive();
    }

    @Test
    void theScopeOfANameStandsInItsRow() {
        assertThat(cell("evict.lru+scope.miss-curve", 9).text("scope")).isEqualTo("miss-curve");
        assertThat(cell("evict.lru", 9).text("scope")).isEqualTo("layer");
        assertThat(cell("evict.lru", 9).text("trace")).isEqualTo("tiny, 2 streams");
    }

    @Test
    void readersAreWarned() throws IOException {
        assertThat(out.resolve("README.md"))
                .content()
                .contains("- Warning: rows 6 per layer are fewer than twice top-k (4)")
                .contains("- Warning: rows 16 fell back to 15, one less than the experts")
                .contains("| victim % |");
    }

    @Test
    void aCellTakenApartAddsUpToItsRow() throws IOException {
        ResultRow row = cell("evict.lru", 9);
        for (String table : List.of("layers", "over_time", "after_start", "sequences")) {
            List<String> lines = Files.readAllLines(out.resolve("details/" + table + ".csv"));
            List<String> header = List.of(lines.get(0).split(","));
            int fromEnd = header.size() - header.indexOf("hits");
            long hits = lines.stream()
                    .skip(1)
                    .map(line -> line.split(","))
                    .mapToLong(cells -> Long.parseLong(cells[cells.length - fromEnd]))
                    .sum();
            assertThat(hits).as(table).isEqualTo(count(row, "hits"));
            assertThat(lines.stream().skip(1)).allMatch(line -> line.startsWith("\"policy=evict.lru,rows=9\","));
        }
        assertThat(out.resolve("details/lag_overlap.csv")).exists();
        assertThat(out.resolve("figures/misses-by-layer.png")).exists();
    }
}
