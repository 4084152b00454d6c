package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TraceExportTest {
    @TempDir
    Path folder;

    static Stream<Arguments> lossless() {
        return Stream.of(TraceFormat.CSV, TraceFormat.JSONL, TraceFormat.CANONICAL)
                .flatMap(format -> Stream.of(1, 2, 3).map(seed -> Arguments.of(format, seed)));
    }

    /** Decode traces of several sequences, weights of any exponent: to text and back is the same trace. */
    @ParameterizedTest
    @MethodSource("lossless")
    void whatLosesNothingReadsBackTheSame(TraceFormat format, int seed) throws IOException {
        TraceShape shape = new TraceShape(1 + seed, 40 * seed, 2 + seed, seed != 2);
        RoutingTrace trace = decodeTrace(shape, 60, seed, 4);
        for (String name : List.of("t", "t.gz")) {
            Path file = folder.resolve(name);
            if (format == TraceFormat.CANONICAL && name.endsWith(".gz")) {
                assertThatThrownBy(() -> Traces.write(trace, file, format))
                        .isInstanceOf(BadInputException.class)
                        .hasMessageContaining("expected a name without .gz");
                continue;
            }
            List<String> lost = Traces.write(trace, file, format);
            assertThat(lost).allSatisfy(phrase -> assertThat(phrase).contains("--experts " + shape.experts()));
            try (RoutingTrace back = Traces.open(file, experts(shape.experts()))) {
                assertThat(back.shape()).isEqualTo(shape);
                assertThat(RandomForwards.read(back)).isEqualTo(RandomForwards.read(trace));
            }
        }
    }

    /** One sequence from position 0 without weights: every form holds it. */
    @ParameterizedTest
    @EnumSource(TraceFormat.class)
    void aPlainDecodeTraceSurvivesEveryForm(TraceFormat format) throws IOException {
        TraceShape shape = new TraceShape(3, 9, 2, false);
        RoutingTrace trace = decodeTrace(shape, 30, 5, Integer.MAX_VALUE);
        Path file = folder.resolve("t");
        assertThat(Traces.write(trace, file, format)).isEmpty();
        try (RoutingTrace back = Traces.open(file)) {
            assertThat(RandomForwards.read(back)).isEqualTo(RandomForwards.read(trace));
        }
    }

    @Test
    void whatAFormCannotHoldIsSaid() throws IOException {
        TraceShape shape = new TraceShape(1, 5, 1, true);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "s");
        builder.forward(new ForwardHeader(true, true, 0, 3), new int[] {0, 1, 2}, new float[] {1f, 0.5f, 0.25f});
        builder.forward(ForwardHeader.decode(false, 3), new int[] {3}, new float[] {1f});
        builder.forward(ForwardHeader.decode(true, 7), new int[] {0}, new float[] {1f});
        RoutingTrace trace = builder.build();
        Path out = folder.resolve("out");

        assertThat(Traces.write(trace, out, TraceFormat.FLAT))
                .containsExactly(
                        "the boundaries of 2 sequences and positions within them",
                        "router weights",
                        "that 1 forwards are prefill chunks",
                        "the grouping of tokens into 1 wider forwards",
                        "that there are 5 experts (read back with --experts 5)");
        assertThat(out).hasContent("0 0\n0 1\n0 2\n0 3\n0 0");
        assertThat(Traces.write(trace, out, TraceFormat.CSV_LONG)).hasSize(4).noneMatch(s -> s.contains("weights"));
        assertThat(out)
                .hasContent("token,layer,lane,expert,weight\n0,0,0,0,1.0\n1,0,0,1,0.5\n2,0,0,2,0.25\n3,0,0,3,1.0\n"
                        + "4,0,0,0,1.0");
        assertThat(Traces.write(trace, out, TraceFormat.CSV)).hasSize(3);
        assertThat(out)
                .hasContent("seq,pos,layer,e0,w0\n0,0,0,0,1.0\n0,1,0,1,0.5\n0,2,0,2,0.25\n0,3,0,3,1.0\n1,7,0,0,1.0");
        assertThat(Traces.write(trace, out, TraceFormat.JSON)).hasSize(5);
        assertThat(out).hasContent("{\"top_k\":1,\"trace\":[\n[0,0],\n[0,1],\n[0,2],\n[0,3],\n[0,0]\n]}");

        RoutingTrace late = InMemoryTrace.builder(new TraceShape(1, 2, 1, false), "s")
                .decode(true, 4, 1)
                .build();
        assertThat(Traces.write(late, out, TraceFormat.JSON)).containsExactly("that the sequence starts at position 4");
        assertThat(Traces.write(late, out, TraceFormat.CSV_TOKEN)).isEmpty();
    }

    @Test
    void tokensVerifiedAgainDoNotFitATextFormThatNumbersTokens() throws IOException {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(new TraceShape(1, 5, 1, false), "s");
        builder.forward(new ForwardHeader(true, false, 0, 3), new int[] {0, 1, 2}, null);
        builder.forward(new ForwardHeader(false, false, 1, 2), new int[] {4, 3}, null);
        Path out = folder.resolve("out.csv");
        assertThatThrownBy(() -> Traces.write(builder.build(), out, TraceFormat.CSV))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("1 forwards verify tokens again");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }

    private static RoutingTrace decodeTrace(TraceShape shape, int forwards, long seed, int longest) {
        SplittableRandom random = new SplittableRandom(seed);
        List<RandomForwards.Forward> made = new ArrayList<>();
        int position = 0;
        for (RandomForwards.Forward any : RandomForwards.make(shape, forwards, seed)) {
            boolean starts = made.isEmpty() || position >= longest;
            position = starts ? (longest == Integer.MAX_VALUE ? 0 : random.nextInt(2)) : position;
            int lanes = shape.layers() * shape.topK();
            List<Float> weights = new ArrayList<>();
            for (int lane = 0; shape.weighted() && lane < lanes; lane++) {
                weights.add((float) (random.nextDouble() * Math.pow(10, random.nextInt(-12, 3))));
            }
            made.add(new RandomForwards.Forward(
                    ForwardHeader.decode(starts, position++), any.ids().subList(0, lanes), weights));
        }
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "seed " + seed);
        RandomForwards.feed(made, builder);
        return builder.build();
    }

    private static TraceOptions experts(int experts) {
        return new TraceOptions(
                OptionalInt.empty(), OptionalInt.of(experts), OptionalInt.empty(), Optional.empty(), notice -> {});
    }
}
