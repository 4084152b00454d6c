package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.expertpool.harness.cli.CommandResult.poolbench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.expertpool.harness.cli.CommandResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The {@code trace info} and {@code trace convert} commands, on good and bad input, and on the real traces where present. */
class TraceCommandTest {
    private static final String ROWS = """
            seq,pos,layer,e0,e1,w0,w1
            0,0,0,3,0,0.75,0.25
            0,0,1,2,3,0.5,0.5
            1,0,0,1,2,1.0,0.0
            1,0,1,0,1,0.25,0.125
            """;

    @TempDir
    Path folder;

    record Result(int exit, String out, String err) {}

    @Test
    void convertsThereAndBack() throws IOException {
        Path in = Files.writeString(folder.resolve("in.csv"), ROWS);
        Path canonical = folder.resolve("t.trace");
        CommandResult there = poolbench("trace", "convert", in.toString(), canonical.toString());
        assertThat(there.exit()).isZero();
        assertThat(there.out())
                .isEqualTo(canonical + ": canonical, 2 forwards of 2 layers, 4 experts, top 2, weighted\n");
        assertThat(there.err())
                .isEqualTo("notice: " + in
                        + ": taken from the largest numbers in the file: 2 layers, 4 experts (--layers and --experts set"
                        + " them)\n");

        Path back = folder.resolve("back.csv");
        CommandResult again = poolbench("trace", "convert", canonical.toString(), back.toString());
        assertThat(again.exit()).isZero();
        assertThat(again.err()).isEmpty();
        assertThat(back).hasContent(ROWS);
    }

    @Test
    void saysWhatIsLost() throws IOException {
        Path in = Files.writeString(folder.resolve("in.csv"), ROWS);
        Path out = folder.resolve("out.json");
        CommandResult result = poolbench(
                "trace", "convert", in.toString(), out.toString(), "--layers", "2", "--experts", "4", "--from", "csv");
        assertThat(result.exit()).isZero();
        assertThat(result.err())
                .isEqualTo("lost: the boundaries of 2 sequences and positions within them\nlost: router weights\n");
        assertThat(out).hasContent("{\"top_k\":2,\"trace\":[\n[0,3,0],\n[1,2,3],\n[0,1,2],\n[1,0,1]\n]}");
    }

    @Test
    void infoShowsShapeAndStatistics() throws IOException {
        Path in = Files.writeString(folder.resolve("in.csv"), ROWS);
        String[] given = {"--layers", "2", "--experts", "4"};
        CommandResult table = poolbench("trace", "info", in.toString(), given[0], given[1], given[2], given[3]);
        assertThat(table.exit()).isZero();
        assertThat(table.err()).isEmpty();
        assertThat(table.out()).contains("sequences                2\n").contains("distinct_experts_all_layers");

        CommandResult json =
                poolbench("trace", "info", in.toString(), "--json", given[0], given[1], given[2], given[3]);
        JsonNode facts = new ObjectMapper().readTree(json.out());
        assertThat(facts.path("file_bytes").asLong()).isEqualTo(ROWS.length());
        assertThat(facts.path("forwards").asLong()).isEqualTo(2);
        assertThat(facts.path("sequences").asLong()).isEqualTo(2);
        assertThat(facts.path("weighted").asBoolean()).isTrue();
        // Layer 0 takes 3, 0, then 1, 2; layer 1 takes 2, 3, then 0, 1.
        assertThat(facts.path("statistics").path("distinct_experts_all_layers").asDouble())
                .isEqualTo(4);
        // By `printf ... | sha256sum`.
        assertThat(facts.path("sha256").asText())
                .isEqualTo("bd309c089de0a90221e85c7ec47ae2b0137f0ae5c0d9fcbd905a413bbfc73f2d");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    info none.csv                         | poolbench trace info: trace DIR/none.csv: no such file
                    info bad.csv                          | poolbench trace info: DIR/bad.csv line 6: expert id 9 twice, expected distinct experts within a token
                    info in.csv --experts 3               | poolbench trace info: DIR/in.csv line 2: expert id 3, expected 0 to 2
                    info in.csv --layers 0                | poolbench trace info: trace options: layers is 0, expected a whole number from 1 to 65535
                    info in.csv --from xml                | poolbench trace info: trace format is 'xml', expected one of canonical, csv, csv-token, csv-long, jsonl, json, flat
                    convert bad.csv out.trace             | poolbench trace convert: DIR/bad.csv line 6: expert id 9 twice, expected distinct experts within a token
                    convert in.csv no/out.trace           | poolbench trace convert: output DIR/no/out.trace: directory DIR/no does not exist
                    convert in.csv out.trace --format zip | poolbench trace convert: trace format is 'zip', expected one of canonical, csv, csv-token, csv-long, jsonl, json, flat
                    convert in.csv                        | poolbench trace convert: Missing required parameter: 'OUT'
                    """)
    void badInputIsOneLineAndExitTwo(String command, String expected) throws IOException {
        Files.writeString(folder.resolve("in.csv"), ROWS);
        Files.writeString(folder.resolve("bad.csv"), ROWS + "1,1,0,9,9,1,1\n");
        String[] arguments = Stream.concat(Stream.of("trace"), Stream.of(command.split(" ")))
                .map(word ->
                        word.matches(".*\\.(csv|trace)") ? folder.resolve(word).toString() : word)
                .toArray(String[]::new);
        CommandResult result = poolbench(arguments);
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err().lines()).containsExactly(expected.replace("DIR", folder.toString()));
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"trace", "trace info", "trace convert"})
    void helpIsThere(String command) {
        CommandResult result = poolbench((command + " --help").split(" "));
        assertThat(result.exit()).isZero();
        assertThat(result.out()).startsWith("Usage: poolbench " + command);
    }

    /** The figures are those of the data's own README. */
    @ParameterizedTest
    @CsvSource({
        "data/traces/gptoss20b-decode-routes.csv.gz, 24, 32, 4, 61854, 152, "
                + "8e551625b64e5c9e3ada7ac0b78ff2e380554f3d1b99473b57bb912509097ed9",
        "data/tiny-moe/traces/decode-routes.csv.gz, 8, 128, 8, 24576, 48, "
                + "d085fea06bcad5a32d8283dc56bedaf54552da2db6865929852f3c78d401be59"
    })
    void realTracesImportWhole(
            String name, int layers, int experts, int topK, long tokens, long sequences, String sha256)
            throws IOException {
        Path file = sharedFolder().resolve(name);
        assumeThat(file)
                .as("the shared data: %s is missing, see shared.dir", file)
                .exists();
        try (RoutingTrace trace = Traces.open(file)) {
            assertThat(trace.shape()).isEqualTo(new TraceShape(layers, experts, topK, true));
            assertThat(trace.source()).isEqualTo("imported from " + file.getFileName() + ", sha256 " + sha256);
            TraceOutline outline = TraceOutline.of(trace);
            assertThat(outline.tokens()).isEqualTo(tokens);
            assertThat(outline.sequences()).isEqualTo(sequences);
            // Rounded to three decimals the weights of an event sum to 0.996 .. 1.004, by a count outside this project.
            double[] furthest = new double[1];
            Traces.copy(trace, (header, ids, weights) -> {
                for (int lane = 0; lane < layers * topK; lane += topK) {
                    double sum = 0;
                    for (int slot = 0; slot < topK; slot++) {
                        sum += weights[lane + slot];
                    }
                    furthest[0] = Math.max(furthest[0], Math.abs(sum - 1));
                }
            });
            assertThat(furthest[0]).isBetween(0.0028, 0.0041);
        }
    }

    private static Path sharedFolder() {
        String given = System.getProperty("shared.dir");
        if (given != null) {
            return Path.of(given);
        }
        // Tests run in the module's folder, one below the repository root.
        Path module = Path.of("").toAbsolutePath();
        return module.getParent().resolveSibling("shared");
    }
}
