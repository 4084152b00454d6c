package org.expertpool.harness.trace.combine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.expertpool.harness.cli.CommandResult;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.Traces;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Merged streams and unions: worked out by hand, and against queues of token numbers for random lengths. */
class CombineTest {
    private static final int EXPERTS = 4_000;

    /** Two layers, top 2; token number t has experts 2t, 2t+1 in layer 0 and 2t+1, 2t in layer 1, weights t and t + 0.5. */
    private static InMemoryTrace trace(boolean weighted, int firstToken, String... sequences) {
        TraceShape shape = new TraceShape(2, EXPERTS, 2, weighted);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "tokens from " + firstToken);
        int token = firstToken;
        for (String sequence : sequences) {
            int position = 0;
            for (int at = 0;
                    at < sequence.length();
                    at++) { // d: a decode token; a digit: a prefill chunk of so many tokens
                char kind = sequence.charAt(at);
                int tokens = kind == 'd' ? 1 : kind - '0';
                int[] ids = new int[4 * tokens];
                float[] weights = weighted ? new float[ids.length] : null;
                for (int i = 0; i < tokens; i++, token++) {
                    ids[2 * i] = 2 * token;
                    ids[2 * i + 1] = 2 * token + 1;
                    ids[2 * (tokens + i)] = 2 * token + 1;
                    ids[2 * (tokens + i) + 1] = 2 * token;
                    for (int lane = 0; weighted && lane < 4; lane++) {
                        weights[2 * (lane / 2 * tokens + i) + lane % 2] = token + 0.5f * (lane % 2);
                    }
                }
                builder.forward(new ForwardHeader(position == 0, kind != 'd', position, tokens), ids, weights);
                position += tokens;
            }
        }
        return builder.build();
    }

    /** Forwards in short: S if they start a sequence, P if prefill, position, then the numbers of their tokens. */
    private static List<String> describe(RoutingTrace trace) {
        List<String> lines = new ArrayList<>();
        Traces.copy(trace, (header, ids, weights) -> {
            int tokens = header.tokens();
            int[] numbers = new int[tokens];
            for (int i = 0; i < tokens; i++) {
                numbers[i] = ids[2 * i] / 2;
                int second = 2 * (tokens + i);
                assertThat(new int[] {ids[2 * i + 1], ids[second], ids[second + 1]})
                        .containsExactly(2 * numbers[i] + 1, 2 * numbers[i] + 1, 2 * numbers[i]);
                if (weights != null) {
                    assertThat(new float[] {weights[2 * i], weights[second + 1]})
                            .containsExactly(numbers[i], numbers[i] + 0.5f);
                }
            }
            lines.add((header.startsSequence() ? "S" : "") + (header.prefill() ? "P" : "") + header.position() + ":"
                    + Arrays.toString(numbers));
        });
        return lines;
    }

    private static List<String> merge(int streams, OptionalLong seed, RoutingTrace... traces) {
        StreamMerge merge = new StreamMerge(List.of(traces), streams, seed);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(merge.shape(), merge.source());
        merge.writeTo(builder);
        return describe(builder.build());
    }

    private static List<String> union(int rows, RoutingTrace trace) {
        TokenUnion union = new TokenUnion(trace, rows);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(trace.shape(), union.source());
        union.writeTo(builder);
        return describe(builder.build());
    }

    @Test
    void refillsStreamsAndGetsNarrowAtTheEnd() {
        // Sequences 0 1 2 | 3 | 4 5 | 6 on two streams: the second stream takes 3, then 4 5; the first one ends with 6.
        assertThat(merge(2, OptionalLong.empty(), trace(true, 0, "ddd", "d", "dd", "d")))
                .containsExactly("S0:[0, 3]", "2:[1, 4]", "4:[2, 5]", "6:[6]");
    }

    @Test
    void keepsPrefillApart() {
        // Tokens 0 1 are prefilled before 2 decodes; sequence 4 5 6 is prefill alone, so its stream goes on to 7.
        assertThat(merge(2, OptionalLong.empty(), trace(false, 0, "2dd", "3", "d")))
                .containsExactly("SP0:[0, 1]", "P2:[4, 5, 6]", "5:[2, 7]", "7:[3]");
    }

    @Test
    void takesTheFirstTokensAsAPrompt() {
        assertThat(request(5, 2, trace(true, 0, "ddd", "dddd", "d")))
                .containsExactly("SP0:[0, 1]", "P2:[2, 3]", "P4:[4]", "5:[5]", "6:[6]", "7:[7]");
        assertThat(request(2, 8, trace(false, 0, "ddd"))).containsExactly("SP0:[0, 1]", "2:[2]");
        assertThatThrownBy(() -> request(3, 2, trace(false, 0, "ddd")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("input tokens: 3, expected at least 1 and fewer than the 3 of the trace");
        assertThatThrownBy(() -> request(2, 0, trace(false, 0, "ddd")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("chunk tokens: 0, expected at least 1");
        assertThatThrownBy(() -> request(1, 1, trace(false, 0, "2dd")))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("forward 0 is a prefill chunk, expected decode alone");
    }

    private static List<String> request(int inputTokens, int chunkTokens, RoutingTrace trace) {
        LongInput input = new LongInput(trace, inputTokens, chunkTokens);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(trace.shape(), input.source());
        input.writeTo(builder);
        return describe(builder.build());
    }

    @Test
    void takesSeveralFilesInOrder() {
        assertThat(merge(2, OptionalLong.empty(), trace(true, 0, "d", "d"), trace(true, 100, "d", "d", "d")))
                .containsExactly("S0:[0, 1]", "2:[100, 101]", "4:[102]");
        StreamMerge mixed =
                new StreamMerge(List.of(trace(true, 0, "d"), trace(false, 1, "d")), 2, OptionalLong.empty());
        assertThat(mixed.shape().weighted()).isFalse();
        assertThat(mixed.source())
                .isEqualTo("merge of 2 streams, sequences in file order, of: tokens from 0; tokens from 1");
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 3", "4, 4", "7, 5", "40, 6"})
    void agreesWithQueues(int streams, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        String[] lengths = random.ints(30, 1, 40).mapToObj("d"::repeat).toArray(String[]::new);
        RoutingTrace trace = trace(false, 0, lengths);
        assertThat(merge(streams, OptionalLong.empty(), trace)).isEqualTo(queues(lengths, streams));

        List<String> shuffled = merge(streams, OptionalLong.of(seed), trace);
        assertThat(shuffled).isEqualTo(merge(streams, OptionalLong.of(seed), trace));
        List<Integer> all = shuffled.stream()
                .flatMap(line -> Arrays.stream(line.replaceAll(".*\\[|]", "").split(", ")))
                .map(Integer::valueOf)
                .toList();
        assertThat(all)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, all.size()).boxed().toList());
        assertThat(shuffled).isNotEqualTo(queues(lengths, streams));
    }

    private static List<String> queues(String[] sequences, int streams) {
        Deque<Deque<Integer>> waiting = new ArrayDeque<>();
        int token = 0;
        for (String sequence : sequences) {
            Deque<Integer> numbers = new ArrayDeque<>();
            for (int i = 0; i < sequence.length(); i++) {
                numbers.add(token++);
            }
            waiting.add(numbers);
        }
        List<Deque<Integer>> playing = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            playing.add(new ArrayDeque<>());
        }
        List<String> lines = new ArrayList<>();
        for (int position = 0; position < token; ) {
            List<Integer> forward = new ArrayList<>();
            for (int i = 0; i < streams; i++) {
                if (playing.get(i).isEmpty() && !waiting.isEmpty()) {
                    playing.set(i, waiting.remove());
                }
                if (!playing.get(i).isEmpty()) {
                    forward.add(playing.get(i).remove());
                }
            }
            lines.add((position == 0 ? "S" : "") + position + ":" + forward);
            position += forward.size();
        }
        return lines;
    }

    @Test
    void unionsStayWithinTheirSequence() {
        assertThat(union(3, trace(true, 0, "ddddd", "d", "2dddd")))
                .containsExactly("S0:[0, 1, 2]", "3:[3, 4]", "S0:[5]", "SP0:[6, 7]", "2:[8, 9, 10]", "5:[11]");
        assertThat(union(1, trace(false, 0, "dd", "d"))).containsExactly("S0:[0]", "1:[1]", "S0:[2]");
    }

    @Test
    void refusesWhatItCannotMerge() {
        InMemoryTrace wide =
                InMemoryTrace.builder(new TraceShape(1, 9, 1, false), "wide").build();
        assertThatThrownBy(() -> new StreamMerge(List.of(trace(true, 0, "d"), wide), 2, OptionalLong.empty()))
                .isInstanceOf(BadInputException.class)
                .hasMessage("merge: wide has 1 layers, 9 experts, top 1, expected 2 layers, 4000 experts, top 2"
                        + " as in tokens from 0");
        InMemoryTrace.Builder drafts = InMemoryTrace.builder(new TraceShape(1, 9, 1, false), "drafts");
        drafts.forward(new ForwardHeader(true, false, 0, 2), new int[] {1, 2}, null);
        RoutingTrace two = drafts.build();
        for (Runnable refused : List.<Runnable>of(() -> merge(2, OptionalLong.empty(), two), () -> union(2, two))) {
            assertThatThrownBy(refused::run)
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("trace (drafts): forward 0 decodes 2 tokens at once, expected single-token decode");
        }
    }

    @Test
    void commandsWriteTracesThatSimulateTakes(@TempDir Path folder) throws Exception {
        Path in = folder.resolve("in.trace");
        try (TraceWriter writer = TraceWriter.create(in, new TraceShape(2, EXPERTS, 2, true), "in")) {
            Traces.copy(trace(true, 0, "dddd", "ddd", "dd"), writer);
            writer.commit();
        }
        Path merged = folder.resolve("merged.trace");
        Path union = folder.resolve("union.trace");
        assertThat(Main.run("trace", "merge", "--streams", "2", in.toString(), merged.toString()))
                .isZero();
        // The output forgotten: the last trace is not written over.
        assertThat(CommandResult.poolbench("trace", "merge", in.toString(), merged.toString(), "--streams", "2"))
                .isEqualTo(new CommandResult(
                        2,
                        "",
                        "poolbench trace merge: " + merged
                                + ": exists, expected the name of a new file to write, last\n"));
        assertThat(CommandResult.poolbench("trace", "merge", in.toString(), "--streams", "2"))
                .isEqualTo(new CommandResult(
                        2,
                        "",
                        "poolbench trace merge: one file given, expected at least one to read and one to write\n"));
        assertThat(Main.run("trace", "union", "--rows", "4", in.toString(), union.toString()))
                .isZero();
        try (RoutingTrace read = Traces.open(merged)) {
            assertThat(describe(read)).containsExactly("S0:[0, 4]", "2:[1, 5]", "4:[2, 6]", "6:[3, 7]", "8:[8]");
        }
        Path csv = folder.resolve("counts.csv");
        String[] simulate = {
            "simulate", "--rows", "9", "--policy", "lru", "--decode-tokens", "4", "--out", csv.toString()
        };
        String[] arguments = Arrays.copyOf(simulate, simulate.length + 1);
        arguments[simulate.length] = union.toString();
        assertThat(Main.run(arguments)).isZero();
        // 3 planned forwards (4, 3 and 2 tokens), two layers, two experts a token, none twice: 36 selections.
        assertThat(csv).content().contains("evict.lru,global,first-n,9,9,18,3,36,");
    }
}
