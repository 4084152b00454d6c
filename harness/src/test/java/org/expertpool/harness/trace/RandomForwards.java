package org.expertpool.harness.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Seeded random forwards of every kind the canonical form holds, kept as plain arrays to compare with. */
final class RandomForwards {
    /** One forward, lanes {@code [layers][tokens][topK]}; no weights where the trace has none. */
    record Forward(ForwardHeader header, List<Integer> ids, List<Float> weights) {
        static Forward of(ForwardHeader header, int[] ids, float[] weights, int lanes) {
            List<Float> boxed = new ArrayList<>();
            for (int lane = 0; weights != null && lane < lanes; lane++) {
                boxed.add(weights[lane]);
            }
            return new Forward(header, Arrays.stream(ids, 0, lanes).boxed().toList(), boxed);
        }
    }

    private RandomForwards() {}

    /** Sequences of a prefill chunk or two, decode tokens, and now and then a verification of drafted tokens. */
    static List<Forward> make(TraceShape shape, int forwards, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Forward> made = new ArrayList<>();
        int position = 0;
        int end = 0;
        for (int f = 0; f < forwards; f++) {
            boolean starts = f == 0 || random.nextInt(6) == 0;
            boolean prefill = random.nextInt(4) == 0;
            int tokens = prefill || random.nextInt(5) == 0 ? 1 + random.nextInt(7) : 1;
            position = starts ? random.nextInt(3) : position + 1 + random.nextInt(end - position);
            end = position + tokens;
            int lanes = shape.layers() * tokens * shape.topK();
            int[] ids = new int[lanes];
            float[] weights = shape.weighted() ? new float[lanes] : null;
            for (int token = 0; token < lanes / shape.topK(); token++) {
                int[] chosen = random.ints(0, shape.experts())
                        .distinct()
                        .limit(shape.topK())
                        .toArray();
                System.arraycopy(chosen, 0, ids, token * shape.topK(), shape.topK());
            }
            for (int lane = 0; weights != null && lane < lanes; lane++) {
                weights[lane] = random.nextInt(10) == 0 ? 0f : (float) random.nextDouble(3);
            }
            made.add(Forward.of(new ForwardHeader(starts, prefill, position, tokens), ids, weights, lanes));
        }
        return made;
    }

    static void feed(List<Forward> forwards, ForwardSink sink) {
        for (Forward forward : forwards) {
            int[] ids = forward.ids().stream().mapToInt(Integer::intValue).toArray();
            float[] weights = forward.weights().isEmpty() ? null : new float[ids.length];
            for (int lane = 0; weights != null && lane < ids.length; lane++) {
                weights[lane] = forward.weights().get(lane);
            }
            sink.forward(forward.header(), ids, weights);
        }
    }

    /** All that a cursor gives, as forwards. */
    static List<Forward> read(RoutingTrace trace) {
        List<Forward> read = new ArrayList<>();
        Traces.copy(trace, (header, ids, weights) -> {
            int lanes = trace.shape().layers() * header.tokens() * trace.shape().topK();
            read.add(Forward.of(header, ids, weights, lanes));
        });
        return read;
    }
}
