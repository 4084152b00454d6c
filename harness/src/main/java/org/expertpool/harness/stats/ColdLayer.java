package org.expertpool.harness.stats;

import java.util.Arrays;
import java.util.function.Consumer;

/** Working set of layer 0 over the trace's first forwards: distinct experts, and what the 64 most selected take. */
final class ColdLayer implements Accumulator {
    private static final int TOP = 64;

    private final long forwards;
    private final Popularity popularity;
    private boolean complete;

    ColdLayer(long forwards, int experts) {
        this.forwards = forwards;
        popularity = new Popularity(new int[0], 1, experts);
    }

    @Override
    public void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK) {
        if (layer == 0 && forward < forwards) {
            popularity.observe(forward, startsSequence, 0, ids, topK);
            complete = forward + 1 == forwards;
        }
    }

    @Override
    public void report(Consumer<Statistic> target) {
        if (complete) {
            long[] ranked = popularity.ranked(0);
            long distinct = Arrays.stream(ranked).filter(count -> count > 0).count();
            target.accept(new Statistic("distinct_experts_cold_layer_0", distinct));
            target.accept(new Statistic("top_64_share_cold_layer_0", Popularity.coverage(ranked, TOP)));
        }
    }
}
