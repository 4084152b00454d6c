package org.expertpool.pool.policy;

import java.util.Arrays;

/**
 * LFU with exponential decay, and its form weighted by the router: the victim is the row with the smallest
 * {@code (score of its owner, row)}. A selection adds 1, or its router weight, to the key's score; each forward multiplies
 * all scores by the decay. Scores survive eviction.
 *
 * <p>Instead of shrinking all scores, what is added grows: scores are held in units of {@code decay^-forward} and scaled down
 * together before they overflow, so that their order needs one multiplication a forward.
 *
 * <p>Source: LFU with exponential decay, as LRFU (Lee et al., 2001) between LRU and LFU; router weights for counts as in gate-weighted moving averages of expert caches.
 */
final class DecayedOrder implements EvictionOrder {
    private static final double RESCALE_ABOVE = 0x1p500;
    private static final double RESCALE = 0x1p-500;

    private final PoolState state;
    private final double decay;
    private final boolean byWeight;
    private final double[] score; // [L*E] in units of the current forward's
    private final long[] priority; // [L*n] bits of the owner's score: they order as the scores do
    private double unit; // what a selection of the current forward adds
    private int unitForward;

    /** @param byWeight whether a selection adds its router weight */
    DecayedOrder(PoolState state, double decay, boolean byWeight) {
        this.state = state;
        this.decay = decay;
        this.byWeight = byWeight;
        score = new double[state.hotRow.length];
        priority = new long[state.rowKey.length];
        reset();
    }

    @Override
    public void reset() {
        Arrays.fill(score, 0);
        Arrays.fill(priority, 0);
        unit = 1;
        unitForward = 0;
    }

    @Override
    public void hit(int row, int key, float weight) {
        use(key, weight);
        priority[row] = Double.doubleToRawLongBits(score[key]);
    }

    @Override
    public void missed(int key, float weight) {
        use(key, weight);
    }

    private void use(int key, float weight) {
        while (unitForward < state.forwards) {
            nextForward();
        }
        score[key] += byWeight ? unit * weight : unit;
    }

    private void nextForward() {
        unitForward++;
        unit /= decay;
        if (unit > RESCALE_ABOVE) {
            unit *= RESCALE;
            for (int key = 0; key < score.length; key++) {
                score[key] *= RESCALE;
            }
            for (int row = 0; row < priority.length; row++) {
                priority[row] = Double.doubleToRawLongBits(Double.longBitsToDouble(priority[row]) * RESCALE);
            }
        }
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        return state.leastPriority(group, usedBefore, priority);
    }

    @Override
    public void promoted(int row) {
        priority[row] = Double.doubleToRawLongBits(score[state.rowKey[row]]);
    }
}
