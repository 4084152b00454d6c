package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A simulation that is interrupted, its placement kept and loaded again, goes on as if it had not been. */
class PlacementFileTest {
    private static final int LAYERS = 3;
    private static final int EXPERTS = 12;

    @TempDir
    Path folder;

    private record Result(int exit, String out, String err) {}

    private Result simulate(Path trace, String... more) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> arguments = new ArrayList<>(List.of("simulate", trace.toString(), "--policy", "lru"));
        arguments.addAll(List.of("--layers", "3", "--experts", "12"));
        arguments.addAll(Arrays.asList(more));
        int exit = Main.run(new PrintWriter(out), new PrintWriter(err, true), arguments.toArray(String[]::new));
        return new Result(exit, out.toString(), err.toString());
    }

    private Path trace(String name, int[][] ids, int from, int to) throws IOException {
        StringBuilder rows = new StringBuilder("seq,pos,layer,e0\n");
        for (int token = from; token < to; token++) {
            for (int layer = 0; layer < LAYERS; layer++) {
                rows.append("0,")
                        .append(token)
                        .append(',')
                        .append(layer)
                        .append(',')
                        .append(ids[token][layer])
                        .append('\n');
            }
        }
        return Files.writeString(folder.resolve(name), rows);
    }

    private static int[][] random(int tokens) {
        SplittableRandom random = new SplittableRandom(7);
        int[][] ids = new int[tokens][LAYERS];
        for (int token = 0; token < tokens; token++) {
            for (int layer = 0; layer < LAYERS; layer++) {
                ids[token][layer] = (token / 20 + random.nextInt(5) * random.nextInt(2 + layer)) % EXPERTS;
            }
        }
        return ids;
    }

    @ParameterizedTest
    @CsvSource({"global, 2", "global, 3", "layer, 3", "layer, 5"})
    void goesOnWhereItStopped(String scope, String rows) throws IOException {
        int[][] ids = random(200);
        Path placement = folder.resolve("placement.csv");
        String[] settings = {"--scope", scope, "--rows", rows};
        String[] saving = concat(settings, "--save-placement", placement.toString());
        assertThat(simulate(trace("first.csv", ids, 0, 120), saving).exit).isZero();
        assertThat(Files.readAllLines(placement))
                .hasSize(1 + LAYERS * Integer.parseInt(rows))
                .first()
                .isEqualTo("layer,expert,count");

        Path second = trace("second.csv", ids, 120, 200);
        Result warm = simulate(second, concat(settings, "--warm-placement", placement.toString()));
        Result whole = simulate(trace("whole.csv", ids, 0, 200), concat(settings, "--score-from", "forward=120"));
        assertThat(counts(warm.out)).isEqualTo(counts(whole.out));
        assertThat(counts(warm.out)).isNotEqualTo(counts(simulate(second, settings).out));
    }

    /** forwards, selections, hits, misses, promoted, staged. */
    private static List<String> counts(String csv) {
        return Arrays.asList(csv.lines().toList().get(1).split(",")).subList(6, 12);
    }

    private static String[] concat(String[] first, String... more) {
        String[] all = Arrays.copyOf(first, first.length + more.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        return all;
    }

    @Test
    void refusesAPlacementOfAnotherShape() throws IOException {
        Path trace = trace("t.csv", random(9), 0, 9);
        Path placement = folder.resolve("p.csv");
        Files.writeString(placement, "layer,expert,count\n0,3,1\n1,12,1\n");
        String[] settings = {"--rows", "2", "--warm-placement", placement.toString()};
        assertThat(simulate(trace, settings))
                .isEqualTo(new Result(
                        2,
                        "",
                        "poolbench simulate: " + placement
                                + ":3: expert is \"12\", expected a whole number from 0 to 11\n"));
        Files.writeString(placement, "layer,expert,count\n0,3,1\n1,11,1\n");
        assertThat(simulate(trace, settings).err)
                .isEqualTo("poolbench simulate: " + placement
                        + ": 2 resident experts, expected 6 for 3 layers x 2 rows\n");
        Path kept = folder.resolve("kept.csv");
        assertThat(simulate(trace, "--rows", "2,3", "--save-placement", kept.toString()).err)
                .isEqualTo("poolbench simulate: placement: 2 given, expected one number of rows\n");
        assertThat(kept).doesNotExist();
    }

    @Test
    void jsonHoldsWhatTheCsvHolds() throws IOException {
        Path trace = trace("t.csv", random(9), 0, 9);
        JsonNode rows = new ObjectMapper().readTree(simulate(trace, "--rows", "2", "--json").out);
        List<String> cells = Arrays.asList(
                simulate(trace, "--rows", "2").out.lines().toList().get(1).split(",", -1));
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).get("policy").asText()).isEqualTo(cells.get(0));
        assertThat(rows.get(0).get("hits").isIntegralNumber()).isTrue();
        assertThat(rows.get(0).get("hits").asText()).isEqualTo(cells.get(8));
        assertThat(rows.get(0).get("hit_ratio").asDouble()).isEqualTo(Double.parseDouble(cells.get(12)));
        assertThat(rows.get(0).get("controls").isNull()).isTrue();
    }
}
