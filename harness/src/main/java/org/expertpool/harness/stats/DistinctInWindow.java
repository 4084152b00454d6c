package org.expertpool.harness.stats;

import java.util.BitSet;
import java.util.function.Consumer;

/** Mean number of distinct experts a layer sees in so many consecutive tokens of a sequence (windows do not overlap). */
final class DistinctInWindow implements Accumulator {
    private final int windowTokens;
    private final BitSet[] seen;
    private final int[] tokens;
    private long distinct;
    private long windows;

    DistinctInWindow(int windowTokens, int layers, int experts) {
        this.windowTokens = windowTokens;
        seen = new BitSet[layers];
        for (int layer = 0; layer < layers; layer++) {
            seen[layer] = new BitSet(experts);
        }
        tokens = new int[layers];
    }

    @Override
    public void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK) {
        if (startsSequence) {
            clear(layer);
        }
        for (int lane = 0; lane < topK; lane++) {
            seen[layer].set(ids[lane]);
        }
        if (++tokens[layer] == windowTokens) {
            distinct += seen[layer].cardinality();
            windows++;
            clear(layer);
        }
    }

    private void clear(int layer) {
        seen[layer].clear();
        tokens[layer] = 0;
    }

    @Override
    public void report(Consumer<Statistic> target) {
        if (windows > 0) {
            target.accept(new Statistic("distinct_experts_" + windowTokens + "_tokens", (double) distinct / windows));
        }
    }
}
