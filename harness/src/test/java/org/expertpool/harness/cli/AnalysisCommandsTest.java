package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code analyse} and {@code advise} from the command line. */
class AnalysisCommandsTest {
    @TempDir
    Path folder;

    private record Result(int exit, String out, String err) {}

    private static Result poolbench(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exit = Main.run(new PrintWriter(out), new PrintWriter(err, true), arguments);
        return new Result(exit, out.toString(), err.toString());
    }

    /** Six tokens of one layer, experts 0 1 2 0 1 2. */
    private String trace() throws IOException {
        StringBuilder rows = new StringBuilder("seq,pos,layer,e0\n");
        for (int token = 0; token < 6; token++) {
            rows.append("0,").append(token).append(",0,").append(token % 3).append('\n');
        }
        return Files.writeString(folder.resolve("in.csv"), rows).toString();
    }

    @Test
    void analyseWritesTidyFilesAndJson() throws IOException {
        Path out = folder.resolve("analysis");
        String[] command = {
            "analyse",
            trace(),
            "--layers",
            "1",
            "--experts",
            "4",
            "--rows",
            "2",
            "--initial",
            "empty",
            "--out",
            out.toString()
        };
        Result result = poolbench(command);
        assertThat(result.err).isEmpty();
        assertThat(result.exit).isZero();
        assertThat(result.out).contains("| evict.lru").contains("lag_overlap");
        try (Stream<Path> files = Files.list(out)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "summary.csv",
                            "gap.csv",
                            "layers.csv",
                            "sequences.csv",
                            "over_time.csv",
                            "after_start.csv",
                            "working_set.csv",
                            "reuse_distance.csv",
                            "lag_overlap.csv");
        }
        assertThat(out.resolve("gap.csv")).content().isEqualTo("""
                policy,scope,rows_per_layer,misses,compulsory,capacity,admission,victim,admission_ratio,victim_ratio
                evict.lru,global,2,6,3,1,0,2,0.000000,0.333333
                bound.belady-forced,global,2,4,3,1,0,0,0.000000,0.000000
                bound.belady,global,2,4,3,1,0,0,0.000000,0.000000
                """);
        assertThat(out.resolve("reuse_distance.csv")).content().isEqualTo("""
                distance_experts,selections,cumulative_ratio
                2,3,0.500000
                ,3,1.000000
                """);
        Result again = poolbench(command);
        assertThat(again.exit).isEqualTo(2);
        assertThat(again.err)
                .isEqualTo("poolbench analyse: --out " + out + ": is not empty, expected a new directory\n");

        Result json = poolbench("analyse", trace(), "--layers", "1", "--experts", "4", "--rows", "2", "--json");
        JsonNode whole = new ObjectMapper().readTree(json.out);
        assertThat(whole.path("gap").path(0).path("policy").asText()).isEqualTo("evict.lru");
        assertThat(whole.path("summary").path(0).path("h2d_bytes_per_token").isNull())
                .isTrue();
    }

    @Test
    void adviseNamesRowsSpeedAndLimit() {
        Path trace = folder.resolve("qwen.trace");
        assertThat(poolbench(
                                "trace",
                                "generate",
                                "--preset",
                                "qwen3.8-flash-next-prose",
                                "--forwards",
                                "120",
                                "--out",
                                trace.toString())
                        .exit)
                .isZero();
        String[] command = {
            "advise",
            "--trace",
            trace.toString(),
            "--model",
            "qwen3.8-flash-next",
            "--memory",
            "48GiB",
            "--context",
            "4096"
        };
        Result table = poolbench(command);
        assertThat(table.err).isEmpty();
        assertThat(table.exit).isZero();
        assertThat(table.out).startsWith("N        267 rows per layer (48GiB, context 4096, rtx-pro-6000-48gib)\n");
        assertThat(table.out).contains("tok/s, 95 % from").contains("limit    ").contains("engine");
        String[] asJson = Stream.concat(Stream.of(command), Stream.of("--device", "rtx-pro-6000-48gib", "--json"))
                .toArray(String[]::new);
        Result json = poolbench(asJson);
        assertThat(json.out).contains("\"basis\" : \"modelled\"").contains("\"limited_by\"");
        command[6] = "1GiB";
        Result small = poolbench(command);
        assertThat(small.exit).isEqualTo(2);
        assertThat(small.err).startsWith("poolbench advise: memory 1073741824 bytes: not even 10 rows per layer of");
    }
}
