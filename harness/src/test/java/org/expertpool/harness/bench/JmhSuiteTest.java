package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JmhSuiteTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "2, ops/s, ops_per_s, 2",
        "2, ops/us, ops_per_s, 2000000",
        "2, ops/min, ops_per_s, 0.03333333333",
        "2, us/op, ns_per_op, 2000",
        "2, ns/op, ns_per_op, 2",
        "0.5, s/op, ns_per_op, 500000000",
    })
    void scoresGoToTheColumnOfTheirKindInItsUnit(double score, String unit, String column, String value) {
        ResultRow row = JmhRows.putScore(ResultRow.builder(), score, unit).build();
        assertThat(row.values()).containsExactly(Map.entry(column, value));
    }

    @Test
    void unknownUnitsAreRefused() {
        assertThatThrownBy(() -> JmhRows.putScore(ResultRow.builder(), 1, "MB/sec"))
                .hasMessageContaining("JMH unit MB/sec");
    }

    /** One very short run in this process: the JSON is JMH's, and the rows say the same as it. */
    @Test
    void aRunLeavesJmhsJsonAndARowPerFork() throws IOException {
        List<String> arguments = List.of(
                "PlannerStepBenchmark",
                "-p",
                "rows=64",
                "-p",
                "misses=2",
                "-f",
                "0",
                "-wi",
                "0",
                "-i",
                "1",
                "-r",
                "50ms",
                "-v",
                "SILENT");
        List<ResultRow> rows = new JmhSuite(JmhSuite.Part.HOST, arguments).run(folder, folder);
        JsonNode json = new ObjectMapper().readTree(Files.readString(folder.resolve("jmh.json")));
        assertThat(json).hasSize(1);
        assertThat(rows).hasSize(1).isEqualTo(ResultsCsv.readDirectory(folder));
        assertThat(rows.get(0).values())
                .containsEntry("cell", "benchmark=PlannerStepBenchmark.step,misses=2,rows=64")
                .containsEntry("rows_per_layer", "64")
                .containsEntry("basis", "measured")
                .containsEntry("backend", "jmh");
        double nanos = 1000 * json.get(0).at("/primaryMetric/score").asDouble();
        assertThat(rows.get(0).text("ns_per_op")).isEqualTo(ResultRow.format(nanos));
        assertThat(folder.resolve("environment.json")).exists();
    }

    @Test
    void badArgumentsAreBadInput() {
        assertThatThrownBy(() -> new JmhSuite(JmhSuite.Part.HOST, List.of("-f", "many")))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("many");
        assertThatThrownBy(() -> new JmhSuite(JmhSuite.Part.HOST, List.of("NoSuchBenchmark")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("no benchmark matches NoSuchBenchmark, expected a pattern of the names that -l lists");
    }
}
