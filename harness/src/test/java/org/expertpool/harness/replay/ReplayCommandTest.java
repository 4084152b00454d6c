package org.expertpool.harness.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.expertpool.harness.cli.CommandResult.poolbench;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.harness.cli.CommandResult;
import org.expertpool.pool.cuda.CudaProbe;
import org.expertpool.pool.cuda.CudaStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The {@code replay} command: against golden files of another implementation, by hand, and on bad input. */
class ReplayCommandTest {
    @TempDir
    private Path folder;

    /** Golden files made by oracle.py, beside them, which shares no code with this project. */
    @Test
    void agreesWithAnotherImplementation() throws IOException {
        Path out = folder.resolve("out.jsonl");
        CommandResult result = poolbench(
                "replay",
                resource("random.steps.jsonl").toString(),
                "--layers",
                "3",
                "--experts",
                "9",
                "--top-k",
                "2",
                "--rows",
                "3",
                "--decode-tokens",
                "3",
                "--out",
                out.toString());
        assertThat(result).isEqualTo(new CommandResult(0, "", ""));
        assertThat(Files.readAllLines(out)).isEqualTo(Files.readAllLines(resource("random.expected.jsonl")));
    }

    /** The trace of HandComputedTraceTest in pool-impl; the hash is of its last tables, packed by hand. */
    @Test
    void printsTheHandComputedTrace() throws IOException {
        CommandResult result = replay(
                "{\"layer\":0,\"ids\":[2,0],\"weights\":[0.5,0.5]}",
                "{\"control\":{\"gate\":1}}",
                "{\"layer\":0,\"ids\":[2,0]}",
                "{\"layer\":1,\"ids\":[3,3]}",
                " { \"ids\" : [1, 3] , \"layer\" : 0 } ",
                "{\"layer\":1,\"ids\":[-1,9]}",
                "{\"control\":{\"promoteLimit\":1}}",
                "{\"layer\":0,\"ids\":[0,2]}",
                "{\"layer\":1,\"ids\":[0,1]}",
                "{\"clearError\":true}",
                "{\"control\":{}}");
        assertThat(result.exit()).isZero();
        List<String> lines = result.out().lines().toList();
        assertThat(lines).hasSize(7);
        assertThat(lines.get(0))
                .startsWith("{\"copies\":[[2,4]],\"promoted\":0,\"staged\":1,\"routes\":[4,0],\"safeIds\":[2,0],"
                        + "\"error\":0,\"clock\":0,\"forwards\":0,\"tables\":\"");
        assertThat(lines.get(3)).startsWith("{\"copies\":[[1,3],[3,0]],\"promoted\":2,\"staged\":0,");
        assertThat(lines.get(4))
                .startsWith("{\"copies\":[],\"promoted\":0,\"staged\":0,\"routes\":[-1,-1],\"safeIds\":[-1,-1],"
                        + "\"error\":1,\"clock\":4,\"forwards\":2,");
        assertThat(lines.get(6))
                .isEqualTo("{\"copies\":[[0,0],[1,4]],\"promoted\":1,\"staged\":1,\"routes\":[0,4],\"safeIds\":[0,1],"
                        + "\"error\":1,\"clock\":6,\"forwards\":3,"
                        + "\"tables\":\"85cc3ca4525fc61e1312b9173fc9331e73d6147a80cc7747219484bd561a3469\"}");
    }

    @Test
    void anEmptyFileHasNoSteps() throws IOException {
        assertThat(replay()).isEqualTo(new CommandResult(0, "", ""));
    }

    @Test
    void weightsAreTheNearestFloatAndThenJudged() throws IOException {
        // 1e39 is infinite as f32; 2^128 - 2^103 = 3.40282356779733661637...e38 is where that begins; -1e-46 is -0;
        // -1e-45 is the smallest negative number.
        CommandResult result = replay(
                "{\"layer\":0,\"ids\":[0,1],\"weights\":[1e39,0]}",
                "{\"clearError\":true}",
                "{\"layer\":0,\"ids\":[0,1],\"weights\":[3.4028235677973367e38,3.4028235677973366e38]}",
                "{\"clearError\":true}",
                "{\"layer\":0,\"ids\":[0,1],\"weights\":[-1e-46,-0]}",
                "{\"layer\":0,\"ids\":[0,1],\"weights\":[-1e-45,1E+999999999999]}");
        assertThat(result.exit()).isZero();
        assertThat(result.out().lines().map(ReplayCommandTest::safeIdsAndError))
                .containsExactly("[-1,1] 1", "[-1,1] 1", "[0,1] 0", "[-1,-1] 1");
    }

    /** Decimal texts at the midpoints of floats, where rounding by way of double goes wrong. */
    @Test
    void decimalTextsRoundOnce() {
        for (int bits : new int[] {0x3F800001, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFE, 0x3DCCCCCD}) {
            BigDecimal low = new BigDecimal(Float.intBitsToFloat(bits));
            BigDecimal high = new BigDecimal(Float.intBitsToFloat(bits + 1));
            BigDecimal middle = low.add(high).divide(BigDecimal.valueOf(2));
            BigDecimal nudge = middle.scaleByPowerOfTen(-30);
            assertThat(Float.parseFloat(middle.subtract(nudge).toString())).isEqualTo(low.floatValue());
            assertThat(Float.parseFloat(middle.add(nudge).toString())).isEqualTo(high.floatValue());
        }
    }

    @Test
    void longNumbersAreNumbers() throws IOException {
        String weight = "0." + "3".repeat(5000);
        assertThat(replay("{\"layer\":0,\"ids\":[0],\"weights\":[" + weight + "]}")
                        .exit())
                .isZero();
    }

    static Stream<Arguments> badLines() {
        String range = "expected a whole number from ";
        return Stream.of(
                arguments("", "the line is blank"),
                arguments("  ", "the line is blank"),
                arguments("[]", "the line begins with an array, expected a JSON object"),
                arguments("7", "the line begins with 7"),
                arguments("{", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1]", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[01]}", "is not JSON"),
                arguments("{'layer':0,'ids':[1]}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1]} x", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1]} {}", "the object is followed by an object"),
                arguments("{\"layer\":0,\"ids\":[1]},", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1],}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1,]}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[NaN]}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[NaN]}", "is not JSON"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[Infinity]}", "is not JSON"),
                arguments("{}", "the object has the fields []"),
                arguments("{\"layer\":0}", "the object has the fields [layer]"),
                arguments("{\"ids\":[0]}", "the object has the fields [ids]"),
                arguments("{\"ids\":[0],\"weights\":[1]}", "the object has the fields [ids, weights]"),
                arguments(
                        "{\"layer\":0,\"ids\":[1],\"control\":{}}", "the object has the fields [layer, ids, control]"),
                arguments("{\"clearError\":true,\"control\":{\"gate\":1}}", "[clearError, control]"),
                arguments("{\"layer\":0,\"ids\":[1],\"token\":3}", "field token is unknown"),
                arguments("{\"Layer\":0,\"ids\":[1]}", "field Layer is unknown"),
                arguments("{\"layer\":0,\"layer\":1,\"ids\":[1]}", "field layer appears twice"),
                arguments("{\"layer\":0,\"ids\":[1],\"ids\":[1]}", "field ids appears twice"),
                arguments("{\"layer\":2,\"ids\":[1]}", "field layer is 2, " + range + "0 to 1"),
                arguments("{\"layer\":-1,\"ids\":[1]}", "field layer is -1, " + range + "0 to 1"),
                arguments("{\"layer\":0.0,\"ids\":[1]}", "field layer is 0.0, " + range + "0 to 1"),
                arguments("{\"layer\":\"0\",\"ids\":[1]}", "field layer is the text \"0\", " + range + "0 to 1"),
                arguments("{\"layer\":null,\"ids\":[1]}", "field layer is null, " + range + "0 to 1"),
                arguments("{\"layer\":true,\"ids\":[1]}", "field layer is true, " + range + "0 to 1"),
                arguments("{\"layer\":4294967296,\"ids\":[1]}", "field layer is 4294967296, "),
                arguments("{\"layer\":0,\"ids\":[]}", "field ids is empty, expected 1 to 2 entries"),
                arguments("{\"layer\":0,\"ids\":[0,1,2]}", "field ids has more than 2 entries"),
                arguments("{\"layer\":0,\"ids\":3}", "field ids is 3, expected an array"),
                arguments("{\"layer\":0,\"ids\":null}", "field ids is null, expected an array"),
                arguments("{\"layer\":0,\"ids\":[2147483648]}", "field ids[0] is 2147483648, " + range + "-2147483648"),
                arguments("{\"layer\":0,\"ids\":[0,-2147483649]}", "field ids[1] is -2147483649, "),
                arguments("{\"layer\":0,\"ids\":[99999999999999999999]}", "field ids[0] is 99999999999999999999, "),
                arguments("{\"layer\":0,\"ids\":[1.0]}", "field ids[0] is 1.0, "),
                arguments("{\"layer\":0,\"ids\":[1e0]}", "field ids[0] is 1e0, "),
                arguments("{\"layer\":0,\"ids\":[[1]]}", "field ids[0] is an array, "),
                arguments("{\"layer\":0,\"ids\":[\"1\"]}", "field ids[0] is the text \"1\", "),
                arguments("{\"layer\":0,\"ids\":[null]}", "field ids[0] is null, "),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[]}", "field weights has 0 entries, expected 1"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[1,1]}", "field weights has 2 entries, expected 1"),
                arguments("{\"weights\":[1,1,1],\"layer\":0,\"ids\":[1]}", "field weights has more than 2 entries"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":null}", "field weights is null, expected an array"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[\"1\"]}", "field weights[0] is the text \"1\", "),
                arguments(
                        "{\"layer\":0,\"ids\":[1],\"weights\":[null]}", "field weights[0] is null, expected a number"),
                arguments("{\"layer\":0,\"ids\":[1],\"weights\":[true]}", "field weights[0] is true, "),
                arguments("{\"control\":[]}", "field control is an array, expected an object"),
                arguments(
                        "{\"control\":{\"limit\":1}}",
                        "control limit is unknown, expected one of gate, promoteLimit, "),
                arguments("{\"control\":{\"gate\":1,\"gate\":1}}", "control gate appears twice"),
                arguments("{\"control\":{\"gate\":2}}", "control gate is 2, " + range + "0 to 1"),
                arguments("{\"control\":{\"gate\":true}}", "control gate is true, " + range + "0 to 1"),
                arguments(
                        "{\"control\":{\"promoteLimit\":-1}}",
                        "control promoteLimit is -1, " + range + "0 to 2147483647"),
                arguments("{\"control\":{\"promoteLimit\":2147483648}}", "control promoteLimit is 2147483648, "),
                arguments("{\"control\":{\"promoteLimit\":1.0}}", "control promoteLimit is 1.0, "),
                arguments("{\"control\":{\"promoteInterval\":0}}", "control promoteInterval is 0, " + range + "1 to "),
                arguments(
                        "{\"control\":{\"promoteMinMisses\":0}}", "control promoteMinMisses is 0, " + range + "1 to "),
                arguments("{\"control\":{\"protectRecent\":\"2\"}}", "control protectRecent is the text \"2\", "),
                arguments("{\"control\":{\"protectRecent\":null}}", "control protectRecent is null, "),
                arguments("{\"clearError\":false}", "field clearError is false, expected true"),
                arguments("{\"clearError\":1}", "field clearError is 1, expected true"),
                arguments("\uFEFF{\"clearError\":true}", "is not JSON"));
    }

    @ParameterizedTest
    @MethodSource("badLines")
    void refusesWhatIsMalformedAndWritesNothing(String line, String complaint) throws IOException {
        String good = "{\"layer\":0,\"ids\":[2,0]}";
        Path out = folder.resolve("out.jsonl");
        Files.writeString(out, "before");
        Path steps = write(good, line, good);
        CommandResult toFile = poolbench(commandLine(steps, "--out", out.toString()));
        assertThat(toFile.exit()).isEqualTo(2);
        assertThat(toFile.out()).isEmpty();
        assertThat(toFile.err()).contains(steps + ":2: ").contains(complaint);
        assertThat(toFile.err().lines()).hasSize(1);
        assertThat(out).hasContent("before");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(steps, out);
        }
        assertThat(poolbench(commandLine(steps))).isEqualTo(new CommandResult(2, "", toFile.err()));
    }

    /** The parser's advice is for who calls it. */
    @Test
    void whatIsNotJsonIsSaidInTheWordsOfTheFile() throws IOException {
        assertThat(replay("{\"layer\":0,\"ids\":[1]").err())
                .endsWith(
                        ":1: column 21 is not JSON, expected one object a line: Unexpected end-of-input: expected close"
                                + " marker for Object\n");
        assertThat(replay("{\"layer\":0,\"ids\":[1],\"weights\":[NaN]}").err())
                .endsWith(": Non-standard token 'NaN'\n");
    }

    @Test
    void aGraphWithoutADeviceIsRefused() throws IOException {
        assertThat(poolbench(commandLine(write("{\"layer\":0,\"ids\":[0]}"), "--graph")))
                .isEqualTo(new CommandResult(2, "", "poolbench replay: --graph: expected --backend cuda beside it\n"));
    }

    @Test
    void refusesWhatIsNotUtf8() throws IOException {
        Path steps = folder.resolve("steps.jsonl");
        Files.write(steps, new byte[] {'{', '"', (byte) 0xC3, '"', ':', '1', '}', '\n'});
        assertThat(poolbench(commandLine(steps)).err()).contains(":1: the line is not UTF-8");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--rows 0 | rows is 0: the pool is off",
                "--rows -1 | rows is -1",
                "--rows 1 | rows is 1: min(rows, experts - 1) = 1, expected 0 (pool off) or at least topK = 2",
                "--experts 2 | rows is 2: min(rows, experts - 1) = 1",
                "--experts 1 | topK is 2, expected at most experts = 1",
                "--experts 0 | experts is 0, expected at least 1",
                "--layers 0 | layers is 0, expected at least 1",
                "--top-k 0 | topK is 0, expected at least 1",
                "--decode-tokens 0 | maxDecodeTokens is 0, expected at least 1",
                "--layers 100000 --experts 100000 | layers * experts is 10000000000, expected at most 2147483647",
                "--layers 40000 --experts 40000 | this JVM's heap",
                "--backend torch | --backend",
                "--layers two | --layers",
                "--out no/such/folder/out.jsonl | does not exist",
            })
    void refusesBadOptions(String optionsAndComplaint) throws IOException {
        String[] parts = optionsAndComplaint.split(" \\| ");
        List<String> line = new ArrayList<>(List.of(commandLine(write("{\"layer\":0,\"ids\":[0]}"))));
        List<String> changed = Arrays.asList(parts[0].split(" "));
        for (int i = 0; i < changed.size(); i += 2) {
            int at = line.indexOf(changed.get(i));
            if (at >= 0) {
                line.subList(at, at + 2).clear();
            }
            line.addAll(changed.subList(i, i + 2));
        }
        CommandResult result = poolbench(line.toArray(String[]::new));
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains(parts[1]);
        assertThat(result.err().lines()).hasSize(1);
    }

    @Test
    void refusesFilesThatCannotBeRead() {
        CommandResult absent = poolbench(commandLine(folder.resolve("absent.jsonl")));
        assertThat(absent.exit()).isEqualTo(2);
        assertThat(absent.err()).contains("absent.jsonl: no such file");
        assertThat(poolbench(commandLine(folder)).exit()).isEqualTo(2);
    }

    @Test
    void saysWhatIsMissingForTheDevice() throws IOException {
        assumeTrue(CudaProbe.probe() instanceof CudaStatus.Missing, "a device is here: its absence can't be tested");
        CommandResult result = poolbench(commandLine(write("{\"layer\":0,\"ids\":[0]}"), "--backend", "cuda"));
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).startsWith("poolbench replay: backend cuda: ").contains("expected a machine with");
        assertThat(result.err().lines()).hasSize(1);
    }

    @Test
    void neverReplacesADevice() throws IOException {
        Path device = Files.createSymbolicLink(folder.resolve("null"), Path.of("/dev/null"));
        CommandResult result = poolbench(commandLine(write("{\"layer\":0,\"ids\":[0]}"), "--out", device.toString()));
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err()).contains("is a device or pipe, expected a file name");
        assertThat(Files.isSymbolicLink(device)).isTrue();
    }

    @Test
    void missingOptionsAreWrongUsage() {
        assertThat(poolbench("replay", "steps.jsonl").exit()).isEqualTo(2);
        assertThat(poolbench("replay", "--help").exit()).isZero();
    }

    private CommandResult replay(String... lines) throws IOException {
        return poolbench(commandLine(write(lines)));
    }

    private Path write(String... lines) throws IOException {
        Path steps = folder.resolve("steps.jsonl");
        Files.writeString(steps, String.join("\n", lines) + (lines.length == 0 ? "" : "\n"));
        return steps;
    }

    private static String[] commandLine(Path steps, String... more) {
        List<String> line = new ArrayList<>();
        Collections.addAll(
                line, "replay", steps.toString(), "--layers", "2", "--experts", "4", "--top-k", "2", "--rows", "2");
        Collections.addAll(line, more);
        return line.toArray(String[]::new);
    }

    private static String safeIdsAndError(String line) {
        return line.replaceAll(".*\"safeIds\":(\\[[^]]*]),\"error\":(\\d).*", "$1 $2");
    }

    private static Path resource(String name) {
        try {
            return Path.of(ReplayCommandTest.class.getResource(name).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
