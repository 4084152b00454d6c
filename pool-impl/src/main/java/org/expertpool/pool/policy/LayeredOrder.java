package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * Orders that know that layers take turns. Layered LRU (Angelopoulos et al., 2025): the victim was last used in the oldest
 * forward; of those, its layer is reached latest from here. Least-stale (SpecMD, 2026): the victim was not used in the
 * current forward, if there is such a row; of those, its layer is reached latest, then its last use is oldest. Ties go to
 * the lowest row. The current layer itself is reached latest of all, a whole forward from here. Keeps no counts.
 */
final class LayeredOrder implements EvictionOrder {
    private final PoolState state;
    private final boolean stalenessAlone;
    private final int layers;
    private final int experts;
    private final int[] lastForward; // [L*n] forward of the row's last use
    private int layer; // of the current step

    private LayeredOrder(PoolState state, boolean stalenessAlone) {
        this.state = state;
        this.stalenessAlone = stalenessAlone;
        layers = state.config().layers();
        experts = state.config().experts();
        lastForward = new int[state.rowKey.length];
    }

    static LayeredOrder layeredLru(PoolState state) {
        return new LayeredOrder(state, false);
    }

    static LayeredOrder leastStale(PoolState state) {
        return new LayeredOrder(state, true);
    }

    @Override
    public void reset() {
        Arrays.fill(lastForward, 0);
    }

    @Override
    public void hit(int row, int key, float weight) {
        lastForward[row] = state.forwards;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        layer = key / experts;
        int best = ABSENT;
        for (int row = state.firstFreeRow(group); row < state.endRow(group); row++) {
            if (state.rowUse[row] < usedBefore && (best == ABSENT || isBefore(row, best))) {
                best = row;
            }
        }
        return best;
    }

    private boolean isBefore(int row, int other) {
        int round = round(row) - round(other);
        if (round != 0) {
            return round < 0;
        }
        int distance = distance(row) - distance(other);
        if (distance != 0) {
            return distance > 0;
        }
        return stalenessAlone && state.rowUse[row] < state.rowUse[other];
    }

    private int round(int row) {
        return stalenessAlone ? (lastForward[row] == state.forwards ? 1 : 0) : lastForward[row];
    }

    /** Layer calls until the row's layer is reached, 1 to the number of layers. */
    private int distance(int row) {
        int ahead = state.rowKey[row] / experts - layer;
        return ahead > 0 ? ahead : ahead + layers;
    }

    @Override
    public void promoted(int row) {
        lastForward[row] = state.forwards;
    }
}
