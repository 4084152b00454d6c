package org.expertpool.harness.sim;

import java.util.Random;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;

/** Small traces for tests. */
final class TestTraces {
    private TestTraces() {}

    /** One-token forwards in one sequence; {@code ids[forward]} is {@code [layers][topK]}, flat. */
    static RoutingTrace of(int layers, int experts, int topK, int[]... ids) {
        InMemoryTrace.Builder builder =
                InMemoryTrace.builder(new TraceShape(layers, experts, topK, false), "written in a test");
        for (int forward = 0; forward < ids.length; forward++) {
            builder.decode(forward == 0, forward, ids[forward]);
        }
        return builder.build();
    }

    /**
     * Random forwards: experts are popular by square of a uniform number, and each lane repeats the last forward's with
     * probability 1/3. A sequence starts on average every {@code sequenceLength} forwards, and a forward is a prefill
     * chunk of 2 to {@code maxTokens} tokens with probability 1/8 where that is more than 1.
     */
    static RoutingTrace random(
            long seed, int layers, int experts, int topK, int forwards, int sequenceLength, int maxTokens) {
        Random random = new Random(seed);
        InMemoryTrace.Builder builder =
                InMemoryTrace.builder(new TraceShape(layers, experts, topK, false), "random, seed " + seed);
        int[] last = new int[layers * topK];
        int position = 0;
        for (int forward = 0; forward < forwards; forward++) {
            boolean starts = forward == 0 || random.nextInt(sequenceLength) == 0;
            boolean prefill = maxTokens > 1 && random.nextInt(8) == 0;
            int tokens = prefill ? 2 + random.nextInt(maxTokens - 1) : 1;
            position = starts ? 0 : position;
            int[] ids = new int[layers * tokens * topK];
            for (int layer = 0; layer < layers; layer++) {
                for (int token = 0; token < tokens; token++) {
                    int at = (layer * tokens + token) * topK;
                    choose(random, experts, topK, last, layer * topK, ids, at);
                    System.arraycopy(ids, at, last, layer * topK, topK);
                }
            }
            builder.forward(new ForwardHeader(starts, prefill, position, tokens), ids, null);
            position += tokens;
        }
        return builder.build();
    }

    private static void choose(Random random, int experts, int topK, int[] last, int lastAt, int[] ids, int at) {
        for (int slot = 0; slot < topK; slot++) {
            int expert = random.nextInt(3) == 0 ? last[lastAt + slot] : skewed(random, experts);
            while (contains(ids, at, slot, expert)) {
                expert = (expert + 1) % experts;
            }
            ids[at + slot] = expert;
        }
    }

    private static int skewed(Random random, int experts) {
        double u = random.nextDouble();
        return (int) (u * u * experts);
    }

    private static boolean contains(int[] ids, int at, int count, int expert) {
        for (int i = at; i < at + count; i++) {
            if (ids[i] == expert) {
                return true;
            }
        }
        return false;
    }
}
