package org.expertpool.harness.stats;

import java.util.BitSet;
import java.util.function.Consumer;

/** Share of a token's experts that the token {@code lag} places earlier in its sequence had too. */
final class LagOverlap implements Accumulator {
    private static final int[] LAGS = {1, 2, 4, 8, 16, 32, 64, 128};
    private static final int KEPT = LAGS[LAGS.length - 1] + 1;

    private final BitSet[][] recent;
    private final long[] sequenceTokens;
    private final long[] shared = new long[LAGS.length];
    private final long[] compared = new long[LAGS.length];

    LagOverlap(int layers, int experts) {
        recent = new BitSet[layers][KEPT];
        for (BitSet[] ofLayer : recent) {
            for (int slot = 0; slot < KEPT; slot++) {
                ofLayer[slot] = new BitSet(experts);
            }
        }
        sequenceTokens = new long[layers];
    }

    @Override
    public void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK) {
        if (startsSequence) {
            sequenceTokens[layer] = 0;
        }
        long token = sequenceTokens[layer]++;
        for (int index = 0; index < LAGS.length && LAGS[index] <= token; index++) {
            BitSet earlier = recent[layer][(int) ((token - LAGS[index]) % KEPT)];
            for (int lane = 0; lane < topK; lane++) {
                shared[index] += earlier.get(ids[lane]) ? 1 : 0;
            }
            compared[index] += topK;
        }
        BitSet current = recent[layer][(int) (token % KEPT)];
        current.clear();
        for (int lane = 0; lane < topK; lane++) {
            current.set(ids[lane]);
        }
    }

    @Override
    public void report(Consumer<Statistic> target) {
        for (int index = 0; index < LAGS.length; index++) {
            if (compared[index] > 0) {
                target.accept(
                        new Statistic("overlap_ratio_lag_" + LAGS[index], (double) shared[index] / compared[index]));
            }
        }
    }
}
