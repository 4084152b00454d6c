package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * SIEVE (Zhang et al., NSDI 2024): rows in the order of their promotion, a visited bit set by hits. The hand goes from the
 * oldest to the newest row and round again, clears bits that are set, leaves those rows in their places, and gives up the
 * first row whose bit is clear. It passes over rows that the event uses and leaves their bits. Keeps no counts.
 */
final class SieveOrder implements EvictionOrder {
    private static final int ALL = 0;

    private final PoolState state;
    private final RowQueues queue;
    private final boolean[] visited; // [L*n]
    private final int[] hand; // [groups] the row that is looked at next; ABSENT: the oldest

    SieveOrder(PoolState state) {
        this.state = state;
        queue = new RowQueues(state, 1);
        visited = new boolean[state.rowKey.length];
        hand = new int[state.groups];
        reset();
    }

    @Override
    public void reset() {
        queue.reset(ALL);
        Arrays.fill(visited, false);
        Arrays.fill(hand, ABSENT);
    }

    @Override
    public void hit(int row, int key, float weight) {
        visited[row] = true;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        // Two rounds, and what is left of the first one.
        for (int looked = 3 * state.freeRows(group); looked > 0; looked--) {
            int row = hand[group] == ABSENT ? queue.first(group, ALL) : hand[group];
            if (state.rowUse[row] < usedBefore) {
                if (!visited[row]) {
                    hand[group] = row;
                    return row;
                }
                visited[row] = false;
            }
            hand[group] = queue.after(row);
        }
        return ABSENT;
    }

    @Override
    public void evicted(int row) {
        hand[state.groupOf(row)] = queue.after(row);
        queue.remove(row);
    }

    @Override
    public void promoted(int row) {
        visited[row] = false;
        queue.append(ALL, row);
    }

    @Override
    public void check() {
        queue.check();
    }
}
