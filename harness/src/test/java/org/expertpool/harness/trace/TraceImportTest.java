package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TraceImportTest {
    @TempDir
    Path folder;

    /** Two layers, four experts, top 2; two tokens: layer 0 takes 3,0 then 1,2; layer 1 takes 2,3 then 0,1. */
    private static final int[][] TWO_TOKENS = {{3, 0, 2, 3}, {1, 2, 0, 1}};

    private static final float[][] TWO_TOKENS_WEIGHTS = {{0.75f, 0.25f, 0.5f, 0.5f}, {1f, 0f, 0.3f, 1e-7f}};

    static Stream<Arguments> forms() {
        return Stream.of(
                form("routes", true, """
                        seq,pos,layer,e0,e1,w0,w1
                        7,4,0,3,0,0.75,0.25
                        7,4,1,2,3,0.5,.5
                        7,5,0,1,2,1.,0
                        7,5,1,0,1,0.3,1e-7
                        """),
                form(
                        "routes without weights",
                        false,
                        "seq,pos,layer,e0,e1\n0,4,0,3,0\n0,4,1,2,3\n0,5,0,1,2\n0,5,1,0,1"),
                form("quoted, spaced, CRLF, byte order mark", true, """
                        BOM"seq","pos","layer","e0","e1","w0","w1"
                        "7","4","0","3","0","0.75","0.25"
                         7, 4, 1, 2, 3, 0.5, 0.5

                        7,5,0,1,2,1.0,0.0
                        7,5,1,0,1,3e-1,0.0000001

                        """.replace("\n", " \r\n")
                        .replace("BOM", "\uFEFF")),
                form("out of order", true, """
                        seq,pos,layer,e0,e1,w0,w1
                        7,5,1,0,1,0.3,1e-7
                        7,4,1,2,3,0.5,0.5
                        7,5,0,1,2,1,0
                        7,4,0,3,0,0.75,0.25
                        """),
                form("token", false, "token,layer,e0,e1\n4,0,3,0\n4,1,2,3\n5,0,1,2\n5,1,0,1\n"),
                form(
                        "token, one name for the experts",
                        false,
                        "token,layer,expert...\n4,0,3,0\n4,1,2,3\n5,0,1,2\n5,1,0,1\n"),
                form("token without a header", false, "4,0,3,0\n4,1,2,3\n5,0,1,2\n5,1,0,1\n"),
                form("token in layer order", false, "token,layer,e0,e1\n4,0,3,0\n5,0,1,2\n4,1,2,3\n5,1,0,1\n"),
                form("long", true, """
                        token,layer,lane,expert,weight
                        4,0,0,3,0.75
                        4,0,1,0,0.25
                        4,1,1,3,0.5
                        4,1,0,2,0.5
                        5,0,0,1,1
                        5,0,1,2,0
                        5,1,0,0,0.3
                        5,1,1,1,0.0000001
                        """),
                form("long without weights", false, """
                        token,layer,lane,expert
                        4,0,0,3
                        4,0,1,0
                        4,1,0,2
                        4,1,1,3
                        5,0,0,1
                        5,0,1,2
                        5,1,0,0
                        5,1,1,1
                        """),
                form("jsonl", true, """
                        {"layer_idx":0,"token_idx":4,"selected_ids":[3,0],"gate_weights":[0.75,0.25]}
                        {"gate_weights":[0.5,0.5],"selected_ids":[2,3],"token_idx":4,"layer_idx":1,"text":{"a":[1]}}

                        {"layer_idx":1,"token_idx":5,"selected_ids":[0,1],"gate_weights":[0.3,1e-7]}
                        {"layer_idx":0,"token_idx":5,"selected_ids":[1,2],"gate_weights":[1,0]}
                        """),
                form("jsonl without weights", false, """
                        {"layer_idx":0,"token_idx":4,"selected_ids":[3,0],"gate_weights":null}
                        {"layer_idx":1,"token_idx":4,"selected_ids":[2,3]}
                        {"layer_idx":0,"token_idx":5,"selected_ids":[1,2]}
                        {"layer_idx":1,"token_idx":5,"selected_ids":[0,1]}
                        """),
                form("json", false, "{\"model\":\"m\",\"top_k\":2,\"trace\":[[0,3,0],[1,2,3],[0,1,2],[1,0,1]]}"),
                form("json, top_k last", false, "{\"trace\":[0,3,0,1,2,3,0,1,2,1,0,1],\n\"top_k\":2}"),
                form("json array", false, "[[0,3,0],\n[1,2,3],\n[0,1,2],\n[1,0,1]]"),
                form("json array of numbers", false, "[0,3,0,1,2,3,0,1,2,1,0,1]"),
                form("flat", false, "0 3 0 1 2 3\n0 1 2 1 0\t1"),
                form("flat in lines", false, "0 3 0\n1 2 3\n0 1 2\n1 0 1\n"));
    }

    private static Arguments form(String name, boolean weighted, String content) {
        return Arguments.of(name, weighted, content);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forms")
    void everyFormGivesTheSameForwards(String name, boolean weighted, String content) throws IOException {
        boolean numbered = !name.startsWith("flat") && !name.matches("json\\b.*");
        int first = numbered ? 4 : 0;
        List<RandomForwards.Forward> expected = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            expected.add(RandomForwards.Forward.of(
                    ForwardHeader.decode(t == 0, first + t),
                    TWO_TOKENS[t],
                    weighted ? TWO_TOKENS_WEIGHTS[t] : null,
                    4));
        }
        for (byte[] bytes : List.of(content.getBytes(StandardCharsets.UTF_8), gzip(content))) {
            Path file = Files.write(folder.resolve("t"), bytes);
            for (long heapBytes : new long[] {0, 1 << 20}) {
                List<String> notices = new ArrayList<>();
                try (RoutingTrace trace =
                        Traces.open(file, TraceOptions.defaults().withNotices(notices::add), heapBytes)) {
                    assertThat(trace.shape()).isEqualTo(new TraceShape(2, 4, 2, weighted));
                    assertThat(RandomForwards.read(trace)).isEqualTo(expected);
                    assertThat(trace).isInstanceOf(heapBytes == 0 ? MappedTrace.class : InMemoryTrace.class);
                }
                assertThat(notices).anySatisfy(notice -> assertThat(notice).contains("2 layers, 4 experts"));
            }
        }
    }

    @Test
    void sequencesKeepTheirBoundariesAndMayStartAnywhere() throws IOException {
        Path file = Files.writeString(
                folder.resolve("t.csv"), "seq,pos,layer,e0\n9,3,0,1\n2,0,0,0\n2,1,0,2\n9,4,0,0\n3,1,0,1\n");
        TraceOptions given = options(1, 5, null, null);
        try (RoutingTrace trace = Traces.open(file, given)) {
            assertThat(trace.shape()).isEqualTo(new TraceShape(1, 5, 1, false));
            assertThat(RandomForwards.read(trace))
                    .extracting(
                            f -> f.header().startsSequence() + " " + f.header().position() + " " + f.ids())
                    .containsExactly("true 0 [0]", "false 1 [2]", "true 1 [1]", "true 3 [1]", "false 4 [0]");
        }
    }

    static Stream<Arguments> broken() {
        String routes = "seq,pos,layer,e0,e1,w0,w1\n";
        String row = "0,0,0,1,2,0.5,0.5\n";
        String token = "token,layer,e0,e1\n";
        String lanes = "token,layer,lane,expert,weight\n";
        String jsonl = "{\"layer_idx\":0,\"token_idx\":0,\"selected_ids\":[1,2],\"gate_weights\":[0.5,0.5]}\n";
        return Stream.of(
                bad("", ": the file is empty"),
                bad("hello", " line 1: starts with 'hello', expected"),
                bad(routes, " line 1: no events in the file"),
                bad(routes + row + "0,0,1,1,2,0.5\n", " line 3: 6 columns, expected 7"),
                bad(routes + row + "0,0,1,1,2,0.5,0.5,9,9\n", " line 3: 9 columns, expected 7"),
                bad(routes + row + "0,0,1,1,2,0.5,0.5,\n", " line 3: 8 columns, expected 7"),
                bad(routes + row + "0,0,1,1,2,0.5,\n", " line 3: weight is '', expected a number"),
                bad(routes + row + "0,0,1,,2,0.5,0.5\n", " line 3: expert is '', expected a whole number"),
                bad(routes + row + "0,0,1,1.0,2,0.5,0.5\n", " line 3: expert is '1.0', expected a whole number"),
                bad(routes + row + "0,0,1,1 7,2,0.5,0.5\n", " line 3: expert is '1 7', expected a whole number"),
                bad(routes + row + "0,0,1,99999999999999999999,2,0.5,0.5", " line 3: expert is '99999999999999999999'"),
                bad(routes + row + "0,0,1,1,2,0.5,x\n", " line 3: weight is 'x', expected a number"),
                bad(routes + row + "0,0,1,1,2,0.5,1f\n", " line 3: weight is '1f', expected a number"),
                bad(routes + row + "0,0,1,1,2,0.5,0.1.2\n", " line 3: weight is '0.1.2', expected a number"),
                bad(routes + row + "0,0,1,1,2,0.5,.\n", " line 3: weight is '.', expected a number"),
                bad(routes + row + "0,0,1,1,2,0.5,nan\n", " line 3: weight NaN, expected a finite number"),
                bad(routes + row + "0,0,1,1,2,0.5,1e99\n", " line 3: weight Infinity, expected a finite number"),
                bad(
                        routes + row + "0,0,1,1,2,0.5,-0.5\n",
                        " line 3: weight -0.5, expected a finite number, at least 0"),
                bad(routes + row + "0,0,1,-1,2,0.5,0.5\n", " line 3: expert id -1, expected 0 to 65534"),
                bad(routes + row + "0,0,1,65535,2,0.5,0.5\n", " line 3: expert id 65535, expected 0 to 65534"),
                bad(routes + row + "0,0,1,2,2,0.5,0.5\n", " line 3: expert id 2 twice, expected distinct"),
                bad(routes + row + "0,0,-1,1,2,0.5,0.5\n", " line 3: layer -1, expected 0 to 65534"),
                bad(routes + row + "0,-1,0,1,2,0.5,0.5\n", " line 3: token -1, expected 0 to 2147483647"),
                bad(routes + row + "-1,0,0,1,2,0.5,0.5\n", " line 3: sequence -1, expected 0 to 2147483647"),
                bad(routes + row + row, " line 3: sequence 0 token 0 layer 0 a second time, expected it once (line 2)"),
                bad(
                        routes + row + "0,2,0,1,2,0.5,0.5\n",
                        " line 3: token 2 follows token 0 of sequence 0, expected token 1"),
                bad(
                        routes + "0,0,1,1,2,1,1\n" + "0,1,0,1,2,1,1\n",
                        " line 2: sequence 0 token 0 layer 1, expected layer 0"),
                bad(routes + row + "0,0,2,1,2,1,1\n", " line 3: sequence 0 token 0 layer 2, expected layer 1"),
                bad(
                        routes + row + "0,0,1,1,2,1,1\n0,1,0,1,2,1,1\n",
                        " line 4: sequence 0 token 1 ends after layer 0, expected layers 0 to 1"),
                bad(
                        routes + row + "0,1,0,1,2,1,1\n0,1,1,1,2,1,1\n",
                        " line 3: sequence 0 token 0 ends after layer 0, expected layers 0 to 1"),
                // Out of order: the line named is still the file's.
                bad(
                        routes + "0,1,0,1,2,1,1\n" + row + "0,1,0,1,2,1,1\n",
                        " line 4: sequence 0 token 1 layer 0 a second time, expected it once (line 2)"),
                bad(
                        routes + "0,3,0,1,2,1,1\n" + row + "0,1,0,1,2,1,1\n",
                        " line 2: token 3 follows token 1 of sequence 0, expected token 2"),
                bad("seq,pos,layer,e0,e1,w0\n" + row, " line 1: 2 expert and 1 weight columns"),
                bad("seq,pos,layer,e0,note\n" + row, " line 1: column 5 is 'note', expected experts"),
                bad("seq,layer,pos,e0,e1\n" + row, " line 1: the header is 'seq,layer,pos,e0,e1', expected"),
                bad("seq,pos,layer,e0,e0\n" + row, " line 1: column 5 is 'e0' after 'e0', expected names that"),
                bad("seq,pos,layer,e1,e0\n" + row, " line 1: column 5 is 'e0' after 'e1', expected names that"),
                bad("seq,pos,layer,e0,e1,w0,w2\n" + row, " line 1: column 7 is 'w2' after 'w0', expected"),
                bad("token,layer,ea,ea\n" + row, " line 1: column 4 is 'ea' after 'ea', expected"),
                bad("seq,pos,layer\n" + row, " line 1: the header is 'seq,pos,layer', expected"),
                bad(
                        "token,layer,lane,id\n",
                        " line 1: the header is 'token,layer,lane,id', expected token,layer,lane,expert"),
                bad("5,1\n", " line 1: 2 columns and no header, expected"),
                bad(token + "0,0,1,2\n0,1,1\n", " line 3: 3 columns, expected 4"),
                bad(token + "0,0,1,2\n0,1,1,\n", " line 3: expert is '', expected"),
                bad("0,0,1,2\n0,1,1,2,3\n", " line 2: 5 columns, expected 4"),
                bad(
                        lanes + "0,0,0,1,0.5\n0,0,2,2,0.5\n",
                        " line 2: lane 1 of this event is missing, expected lanes 0 to 2"),
                bad(lanes + "0,0,0,1,0.5\n0,0,0,2,0.5\n", " line 3: lane 0 of this event a second time"),
                bad(lanes + "0,0,-1,1,0.5\n", " line 2: lane -1, expected 0 to 65534"),
                bad(
                        lanes + "0,0,0,1,0.5\n0,0,1,2,0.5\n0,1,0,1,1\n",
                        " line 4: 1 experts, expected 2 as in the first event"),
                bad(lanes + "0,0,0,1\n", " line 2: 4 columns, expected 5"),
                bad(
                        jsonl + "{\"layer_idx\":1,\"token_idx\":0,\"selected_ids\":[1]}",
                        " line 2: 1 experts, expected 2 as in"),
                bad(
                        jsonl + "{\"layer_idx\":1,\"token_idx\":0,\"selected_ids\":[1,2]}",
                        " line 2: no weights, expected weights"),
                bad(
                        jsonl + "{\"layer_idx\":1,\"token_idx\":0,\"selected_ids\":[1,2],\"gate_weights\":[1]}",
                        " line 2: 1 gate_weights, expected 2"),
                bad(jsonl + "{\"layer_idx\":1,\"selected_ids\":[1,2]}", " line 2: token_idx is missing"),
                bad(jsonl + "{\"layer_idx\":1,\"token_idx\":0}", " line 2: selected_ids is missing"),
                bad(jsonl + "{\"layer_idx\":1,\"token_idx\":0,\"selected_ids\":[]}", " line 2: 0 experts, expected 2"),
                bad(
                        jsonl + "{\"layer_idx\":1.5,\"token_idx\":0}",
                        " line 2: layer_idx is '1.5', expected a whole number"),
                bad(jsonl + "{\"layer_idx\":\"1\"}", " line 2: layer_idx is '1', expected a whole number"),
                bad(
                        jsonl + "{\"layer_idx\":1,\"token_idx\":0,\"selected_ids\":3}",
                        " line 2: selected_ids is '3', expected an array"),
                bad(jsonl + "{\"layer_idx\":1,\"layer_idx\":1}", " line 2: Duplicate field 'layer_idx'"),
                bad(jsonl + "{\"layer_idx\":99999999999999999999}", " line 2: Numeric value"),
                bad(jsonl + "[1]", " line 2: the line is '[', expected an object"),
                bad(jsonl + "{\"layer_idx\":1,", " line 2: Unexpected end-of-input"),
                bad(jsonl.replace("1,2]", "1,NaN]"), " line 1: Non-standard token 'NaN'"),
                bad("{\"top_k\":2}", " line 1: trace is missing"),
                bad("{\"top_k\":0,\"trace\":[]}", " line 1: top_k is 0, expected 1 to 65535"),
                bad("{\"top_k\":2,\"trace\":[]}", " line 1: no events"),
                bad("{\"top_k\":2,\"trace\":7}", " line 1: trace is '7', expected an array"),
                bad(
                        "{\"top_k\":2,\"trace\":[[0,1,2],\n[1,1]]}",
                        " line 2: the event of token 0 layer 1 has 1 experts, expected top_k = 2"),
                bad("{\"top_k\":2,\"trace\":[[0,1,2],\n5]}", " line 2: an event is '5', expected an array"),
                bad(
                        "{\"top_k\":2,\"trace\":[0,1,2,\n1,1]}",
                        " line 2: the event of token 0 layer 1 has 1 experts, expected top_k = 2"),
                bad("{\"top_k\":2,\"trace\":[[]]}", " line 1: layer is ']', expected a whole number"),
                bad(
                        "{\"top_k\":2,\"trace\":[[0,1,2],[1,1,2],\n[0,1,2]]}",
                        " line 2: sequence 0 token 1 ends after layer 0"),
                bad(
                        "{\"top_k\":2,\"trace\":[[0,1,2],[1,1,2],\n[1,1,2]]}",
                        " line 2: sequence 0 token 1 layer 1, expected layer 0"),
                bad("{\"top_k\":2,\"trace\":[[0,1,2]]} x", " line 1: Unrecognized token 'x'"),
                bad("{\"top_k\":2,\"trace\":[[0,1,2]]} 1", " line 1: more follows the trace"),
                bad("{\"top_k\":2,\"trace\":[[0,1,2]", " line 1: Unexpected end-of-input"),
                bad("[[0,1,2],[1,1]]", " line 1: 1 experts, expected 2 as in the first event"),
                bad("0 1 2 1 3", " line 1: no number of experts per event fits"),
                bad("0 1 2 0 3 4", " line 1: events of 2 or 5 experts fit, expected top_k (--top-k)"));
    }

    private static Arguments bad(String content, String message) {
        return Arguments.of(content, message);
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource("broken")
    void brokenInputIsOneErrorWithItsLine(String content, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("in"), content);
        Path out = folder.resolve("out.trace");
        assertThatThrownBy(() -> {
                    try (RoutingTrace trace = Traces.open(file)) {
                        Traces.write(trace, out, TraceFormat.CANONICAL);
                    }
                })
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(file + message)
                .hasMessageNotContaining("\n");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    static Stream<Arguments> brokenForOptions() {
        String rows = "token,layer,e0,e1\n0,0,3,0\n0,1,2,3\n";
        return Stream.of(
                Arguments.of(rows, options(2, 3, null, null), " line 2: expert id 3, expected 0 to 2"),
                Arguments.of(rows, options(1, 4, null, null), " line 3: layer 1, expected 0 to 0"),
                Arguments.of(
                        rows,
                        options(3, 4, null, null),
                        " line 3: sequence 0 token 0 ends after layer 1, expected layers 0 to 2"),
                Arguments.of(
                        rows,
                        options(2, 4, null, TraceFormat.CSV),
                        " line 1: the columns are those of csv-token, expected csv"),
                Arguments.of(rows, options(2, 4, null, TraceFormat.JSONL), " line 1: Unrecognized token 'token'"),
                Arguments.of(
                        rows,
                        options(2, 4, null, TraceFormat.FLAT),
                        " line 1: number is 'token', expected a whole number"),
                Arguments.of(rows, options(2, 4, null, TraceFormat.CANONICAL), " byte 0: "),
                Arguments.of("0 1 2 1 3 4", options(2, 5, 3, TraceFormat.FLAT), " line 1: expert id 1 twice"),
                Arguments.of(
                        "0 1 2 1 3 4 0",
                        options(2, 5, 2, null),
                        " line 1: the event of token 1 layer 0 has 0 experts, expected top_k = 2"),
                Arguments.of(
                        "{\"top_k\":2,\"trace\":[[0,1,2]]}",
                        options(1, 5, 3, null),
                        " line 1: top_k is 2, expected 3 as given"));
    }

    @ParameterizedTest(name = "{2}")
    @MethodSource("brokenForOptions")
    void theShapeGivenIsHeldAgainstTheFile(String content, TraceOptions options, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("in"), content);
        assertThatThrownBy(() -> Traces.open(file, options).close())
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(file + message);
    }

    @Test
    void optionsSettleAnAmbiguousFlatStream() throws IOException {
        Path file = Files.writeString(folder.resolve("flat"), "0 1 2 0 3 4");
        for (TraceOptions options : List.of(options(null, null, 2, null))) {
            try (RoutingTrace trace = Traces.open(file, options)) {
                assertThat(trace.shape()).isEqualTo(new TraceShape(1, 5, 2, false));
                assertThat(trace.forwards()).isEqualTo(2);
            }
        }
        Path lanes = Files.writeString(folder.resolve("lanes"), "0,0,0,4,1\n0,0,1,2,0\n");
        try (RoutingTrace trace = Traces.open(lanes, options(null, null, null, TraceFormat.CSV_LONG))) {
            assertThat(trace.shape()).isEqualTo(new TraceShape(1, 5, 2, true));
        }
    }

    /** A compressed file cut anywhere is noticed, with nothing left behind. */
    @Test
    void aCutOrDamagedGzipFileIsOneError() throws IOException {
        byte[] whole = gzip("token,layer,e0,e1\n0,0,3,0\n0,1,2,3\n".repeat(1));
        for (int length = 2; length < whole.length; length++) {
            Path cut = Files.write(folder.resolve("cut"), Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> Traces.open(cut).close())
                    .as("cut to %d of %d bytes", length, whole.length)
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining(cut + " line ")
                    .hasMessageContaining("gzip");
        }
        byte[] damaged = whole.clone();
        damaged[whole.length - 6] ^= 1;
        Path file = Files.write(folder.resolve("damaged"), damaged);
        assertThatThrownBy(() -> Traces.open(file).close()).hasMessageContaining("gzip");
    }

    @Test
    void aMissingFileAFolderAndAWrongShapeAreNamed() throws IOException {
        assertThatThrownBy(() -> Traces.open(folder.resolve("none")).close())
                .isInstanceOf(BadInputException.class)
                .hasMessageEndingWith("none: no such file");
        assertThatThrownBy(() -> Traces.open(folder).close()).hasMessageEndingWith(": not a regular file");
        Path file = folder.resolve("t.trace");
        try (TraceWriter writer = TraceWriter.create(file, new TraceShape(2, 4, 2, false), "s")) {
            writer.commit();
        }
        assertThatThrownBy(() -> Traces.open(file, options(3, null, null, null)).close())
                .hasMessageContaining("layers is 2 in the file, expected 3 as given");
        assertThatThrownBy(() -> options(0, null, null, null)).hasMessageContaining("layers is 0, expected");
    }

    private static TraceOptions options(Integer layers, Integer experts, Integer topK, TraceFormat format) {
        return new TraceOptions(
                layers == null ? OptionalInt.empty() : OptionalInt.of(layers),
                experts == null ? OptionalInt.empty() : OptionalInt.of(experts),
                topK == null ? OptionalInt.empty() : OptionalInt.of(topK),
                Optional.ofNullable(format),
                notice -> {});
    }

    private static byte[] gzip(String content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(content.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
