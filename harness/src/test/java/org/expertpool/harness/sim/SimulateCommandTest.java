package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.expertpool.harness.cli.CommandResult.poolbench;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.harness.cli.CommandResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.Traces;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The {@code simulate} command on a file: output to the letter, and one line on bad input. */
class SimulateCommandTest {
    private static final String HEADER =
            "policy,scope,initial,rows_per_layer,effective_rows,capacity_rows,forwards,selections,hits,misses,promoted,"
                    + "staged,hit_ratio,partition_forwards,partition_selections,partition_hits,partition_misses,"
                    + "decode_tokens,controls,reset,score_from,exchanged,inserts_per_100,"
                    + "tokens,compulsory,capacity,admission,victim,h2d_bytes_per_token,modelled_ms_per_token\n";

    @TempDir
    private Path folder;

    private Path trace;

    /** One layer, 6 experts, top-2, 5 forwards. */
    @BeforeEach
    void writeTrace() throws IOException {
        trace = folder.resolve("five.trace");
        RoutingTrace five = TestTraces.of(1, 6, 2, new int[][] {{0, 3}, {3, 4}, {0, 3}, {4, 5}, {3, 4}});
        try (TraceWriter writer = TraceWriter.create(trace, five.shape(), five.source())) {
            Traces.copy(five, writer);
            writer.commit();
        }
    }

    /** The first five events of HandComputedTest. */
    @Test
    void printsARowPerPolicyAndSize() {
        CommandResult result = simulate("--rows", "3,9", "--policy", "lru,belady");
        assertThat(result.err())
                .contains("warning: rows 3 per layer are fewer than twice top-k (2)", "rows 9 fell back to 5")
                .hasLineCount(2);
        assertThat(result.exit()).isZero();
        assertThat(result.out())
                .isEqualTo(
                        HEADER
                                + "evict.lru,global,first-n,3,3,3,5,10,7,3,3,0,0.700000000,0,0,0,0,1,,,forward=0,0,30.0000,5,,,,,,\n"
                                + "evict.lru,global,first-n,9,5,5,5,10,9,1,1,0,0.900000000,0,0,0,0,1,,,forward=0,0,10.0000,5,,,,,,\n"
                                + "bound.belady,global,first-n,3,3,3,5,10,7,3,2,1,0.700000000,0,0,0,0,1,,,forward=0,0,20.0000,5,,,,,,\n"
                                + "bound.belady,global,first-n,9,5,5,5,10,9,1,0,1,0.900000000,0,0,0,0,1,,,forward=0,0,0.0000,5,,,,,,\n");
    }

    @Test
    void writesTheSameToAFile() throws IOException {
        Path out = folder.resolve("out.csv");
        CommandResult printed = simulate("--rows", "4", "--policy", "evict.lru");
        CommandResult written = simulate("--rows", "4", "--policy", "evict.lru", "--out", out.toString());
        assertThat(written).isEqualTo(new CommandResult(0, "", ""));
        assertThat(Files.readString(out)).isEqualTo(printed.out());
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(trace, out);
        }
    }

    /** Experts 3, 4 and 5 are first touches outside the start 0, 1, 2; LRU and both bounds miss nothing else. */
    @Test
    void splitsTheMissesWhereAsked() throws IOException {
        CommandResult result = simulate("--rows", "3", "--policy", "lru,belady", "--gap");
        assertThat(result.out().lines().skip(1)).hasSize(2).allMatch(line -> line.endsWith(",5,3,0,0,0,,"));
        CommandResult fifo = simulate("--rows", "2", "--policy", "fifo", "--gap");
        // Two rows are the step's own: hits are the overlap with the step before, 0 at the start and thrice 3 or 4.
        // With
        // bypass the first step leaves 0 and 3, the next keeps them, and 4 5 then miss both: 3 4, and 4 5, four misses.
        assertThat(fifo.out().lines().skip(1))
                .singleElement()
                .asString()
                .contains(",5,10,4,6,")
                .endsWith(",5,3,1,2,0,,");
    }

    @Test
    void pricesWhatItCountsWhereAModelIsGiven() throws IOException {
        Path model = Files.writeString(folder.resolve("small.toml"), """
                layers = 1
                experts = 6
                topK = 2
                hidden = 128
                expertWidth = 64
                kvBytesPerToken = 1024
                denseBytesPerLayer = 65536
                fixedBytes = 0
                """);
        // 3 misses in 5 tokens; a row is 24,576 weights in half a byte each, and a byte for every 16 of them.
        CommandResult result =
                simulate("--rows", "4", "--policy", "belady", "--model", model.toString(), "--device", "h200");
        assertThat(result.err()).isEmpty();
        assertThat(result.out().lines().skip(1)).singleElement().asString().contains(",5,,,,,");
        CommandResult other = simulate("--rows", "4", "--policy", "lru", "--model", "gpt-oss-20b");
        assertThat(other.exit()).isEqualTo(2);
        assertThat(other.err()).contains("of model gpt-oss-20b").hasLineCount(1);
    }

    @Test
    void aListThatEndsInACommaIsRefused() {
        CommandResult result = simulate("--rows", "3,", "--policy", "lru");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err())
                .contains("--rows \"3,\": expected whole numbers")
                .hasLineCount(1);
        assertThat(simulate("--rows", "3", "--policy", "lru,").exit()).isEqualTo(2);
    }

    @Test
    void showsTheSettingsItRanUnder() {
        CommandResult result = simulate(
                "--rows=3",
                "--policy=lru",
                "--scope=layer",
                "--initial=empty",
                "--control=promoteLimit=1,promoteMinMisses=2",
                "--decode-tokens=2",
                "--reset=sequence",
                "--score-from=sequence=1");
        assertThat(result.out())
                .isEqualTo(HEADER + "evict.lru,layer,empty,3,3,3,0,0,0,0,0,0,,0,0,0,0,2,"
                        + "promoteLimit=1;promoteMinMisses=2,sequence,sequence=1,0,,0,,,,,,\n");
    }

    /** Without a profile 0, 3 and 4 lead in the first two forwards; the file says 1, 2 and 5. */
    @Test
    void readsAProfile() throws IOException {
        assertThat(simulate("--rows", "3", "--policy", "static").out()).contains(",10,9,1,0,1,");
        Path profile = Files.writeString(folder.resolve("p.csv"), "layer,expert,count\n0,1,5\n0,5,2\n0,2,1\n");
        assertThat(simulate("--rows", "3", "--policy", "static", "--profile", profile.toString())
                        .out())
                .contains(",10,1,9,0,9,");
    }

    static Stream<Arguments> badInput() {
        return Stream.of(
                arguments("--rows is 1", "--rows 1 --policy lru", "rows is 1: min(rows, experts - 1) = 1, expected"),
                arguments("negative rows", "--rows=-2 --policy lru", "rows is -2, expected"),
                arguments("no rows", "--rows 0 --policy lru", "rows is 0 with 6 experts per layer: the pool is off"),
                arguments(
                        "not a number", "--rows 3,x --policy lru", "expected whole numbers separated by single commas"),
                arguments("twice", "--rows 3,3 --policy lru", "rows: 3 is given twice"),
                arguments("twice", "--rows 3 --policy lru,evict.lru", "policy evict.lru is given twice"),
                arguments(
                        "unknown policy",
                        "--rows 3 --policy lfuu",
                        "lfuu is not known here, expected one of evict.lru"),
                arguments("empty policy", "--rows 3 --policy lru,", "\"\" is no policy part"),
                arguments("arguments", "--rows 3 --policy lru(2)", "evict.lru takes no arguments"),
                arguments("parts", "--rows 3 --policy lru+x.y(2,8),static", "x.y is not known here"),
                arguments("parentheses", "--rows 3 --policy lru(2,static", "its parentheses do not match"),
                arguments("control", "--rows 3 --policy lru --control depth=1", "control depth is unknown"),
                arguments(
                        "control",
                        "--rows 3 --policy lru --control promoteInterval=0",
                        "promoteInterval is 0, expected"),
                arguments(
                        "control",
                        "--rows 3 --policy lru --control promoteLimit=2147483648",
                        "promoteLimit is 2147483648, expected"),
                arguments("control", "--rows 3 --policy lru --control promoteLimit", "expected name=value"),
                arguments("control", "--rows 3 --policy lru --control promoteLimit=1.5", "expected a whole number"),
                arguments(
                        "control",
                        "--rows 3 --policy lru --control promoteLimit=1,promoteLimit=1",
                        "promoteLimit is given twice"),
                arguments("width", "--rows 3 --policy lru --decode-tokens 0", "decode tokens: 0, expected at least 1"),
                arguments("scope", "--rows 3 --policy lru --scope all", "expected one of [global, layer, miss-curve]"),
                arguments(
                        "initial", "--rows 3 --policy lru --initial full", "expected one of [first-n, empty, profile]"),
                arguments("threads", "--rows 3 --policy lru --threads 0", "--threads is 0, expected at least 1"),
                arguments("reset", "--rows 3 --policy lru --reset forward", "expected one of [SEQUENCE]"),
                arguments("score", "--rows 3 --policy lru --score-from 7", "score from \"7\": expected forward=k"),
                arguments("score", "--rows 3 --policy lru --score-from forward=-1", "expected forward=k"),
                arguments("score", "--rows 3 --policy lru --score-from token=1", "expected forward=k"),
                arguments("option", "--rows 3", "Missing required option: '--policy="),
                arguments("profile", "--rows 3 --policy lru --profile DIR/none.csv", "no such file"),
                arguments("profile", "--rows 3 --policy static --profile DIR", "cannot be read: Is a directory"),
                arguments("shape", "--rows 3 --policy lru --out DIR/none/out.csv", "does not exist"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void badInput(String what, String line, String message) throws IOException {
        Path out = folder.resolve("out.csv");
        String[] options = line.replace("DIR", folder.toString()).split(" ");
        List<String> arguments = new ArrayList<>(Arrays.asList(options));
        if (!line.contains("--out")) {
            arguments.addAll(List.of("--out", out.toString()));
        }
        CommandResult result = simulate(arguments.toArray(new String[0]));
        assertThat(result.exit()).as(result.err()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains(message).hasLineCount(1);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(trace);
        }
    }

    static Stream<Arguments> badProfile() {
        return Stream.of(
                arguments("expert,count\n", ":1: expected the header layer,expert,count"),
                arguments("", ":1: expected the header"),
                arguments("layer,expert,count\n0,1\n", ":2: 2 fields"),
                arguments(
                        "layer,expert,count\n0,1,1\n1,0,1\n",
                        ":3: layer is \"1\", expected a whole number from 0 to 0"),
                arguments("layer,expert,count\n0,6,1\n", ":2: expert is \"6\""),
                arguments("layer,expert,count\n0,1,-1\n", ":2: count is \"-1\""),
                arguments("layer,expert,count\n0,1,many\n", ":2: count is \"many\""),
                arguments("layer,expert,count\n0,1,1\n0,1,2\n", ":3: layer 0, expert 1 is given twice"));
    }

    @ParameterizedTest
    @MethodSource
    void badProfile(String text, String message) throws IOException {
        Path profile = Files.writeString(folder.resolve("p.csv"), text);
        CommandResult result = simulate("--rows", "3", "--policy", "static", "--profile", profile.toString());
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err()).contains(profile + message).hasLineCount(1);
    }

    @Test
    void aProfileThatNoPolicyReadsIsRefused() throws IOException {
        Path profile = Files.writeString(folder.resolve("p.csv"), "layer,expert,count\n");
        CommandResult result = simulate("--rows", "3", "--policy", "lru,static-leaky", "--profile", profile.toString());
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err()).contains("no policy reads it");
    }

    @Test
    void anAbsentTraceIsBadInput() {
        CommandResult result =
                poolbench("simulate", folder.resolve("none").toString(), "--rows", "3", "--policy", "lru");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err()).contains("none").hasLineCount(1);
    }

    @Test
    void noticesAreForTracesThatAreRead() throws IOException {
        Path csv = Files.writeString(folder.resolve("two.csv"), "token,layer,e0\n0,0,1\n1,0,2\n");
        CommandResult good = poolbench("simulate", csv.toString(), "--rows", "2", "--policy", "lru");
        assertThat(good.exit()).isZero();
        assertThat(good.err())
                .startsWith("notice: ")
                .contains("1 layers, 3 experts")
                .hasLineCount(1);
        CommandResult bad = poolbench("simulate", csv.toString(), "--rows", "0", "--policy", "lru");
        assertThat(bad.exit()).isEqualTo(2);
        assertThat(bad.err()).contains("rows is 0").hasLineCount(1);
    }

    @Test
    void explainsItself() {
        CommandResult result = poolbench("simulate", "--help");
        assertThat(result.exit()).isZero();
        assertThat(result.out()).contains("--policy", "--score-from", "--initial", "static.profile", "belady");
    }

    @Test
    void listsPolicyParts() {
        CommandResult result = poolbench("simulate", "--list-policies");
        assertThat(result.exit()).isZero();
        assertThat(result.out())
                .contains("evict.lru\n", "promote.nth-touch(touches = 2, window in forwards = 8)\n", "scope.layer\n");
    }

    private CommandResult simulate(String... options) {
        List<String> arguments = new ArrayList<>(List.of("simulate", trace.toString()));
        arguments.addAll(Arrays.asList(options));
        return poolbench(arguments.toArray(new String[0]));
    }
}
