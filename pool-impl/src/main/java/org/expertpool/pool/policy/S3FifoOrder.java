package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * S3-FIFO (Yang et al., SOSP 2023): a small queue of a tenth of the rows, a main queue of the others, and a ghost of the
 * main queue's size. Hits count to 3. While the small queue is at its size or above, its oldest row goes: to the main queue
 * if hit more than once, else out, remembered by the ghost. Otherwise the main queue's oldest goes, or back in with one hit
 * less. A missing key that the ghost remembers is promoted to the main queue. Rows that the event uses keep their places.
 *
 * <p>The ghost remembers a key for as many evictions from the small queue as the main queue has rows. Hit counts do not
 * survive eviction. All rows start in the small queue.
 */
final class S3FifoOrder implements EvictionOrder {
    private static final int SMALL = 0;
    private static final int MAIN = 1;
    private static final int MOST_HITS = 3;

    private final PoolState state;
    private final RowQueues queues;
    private final byte[] hits; // [L*n] 0 to 3
    private final long[] forgotten; // [L*E] the group's evictions from the small queue, this one included; 0: none
    private final long[] evictions; // [groups] from the small queue

    S3FifoOrder(PoolState state) {
        this.state = state;
        queues = new RowQueues(state, 2);
        hits = new byte[state.rowKey.length];
        forgotten = new long[state.hotRow.length];
        evictions = new long[state.groups];
        reset();
    }

    @Override
    public void reset() {
        queues.reset(SMALL);
        Arrays.fill(hits, (byte) 0);
        Arrays.fill(forgotten, 0);
        Arrays.fill(evictions, 0);
    }

    private int smallRows(int group) {
        return Math.max(1, state.freeRows(group) / 10);
    }

    private int mainRows(int group) {
        return state.freeRows(group) - smallRows(group);
    }

    @Override
    public void hit(int row, int key, float weight) {
        if (hits[row] < MOST_HITS) {
            hits[row]++;
        }
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        if (queues.size(group, SMALL) < smallRows(group)) {
            int row = fromMain(group, usedBefore);
            return row != ABSENT ? row : fromSmall(group, usedBefore);
        }
        int row = fromSmall(group, usedBefore);
        return row != ABSENT ? row : fromMain(group, usedBefore);
    }

    private int fromSmall(int group, long usedBefore) {
        for (int row = queues.first(group, SMALL); row != ABSENT; ) {
            int newer = queues.after(row);
            if (state.rowUse[row] < usedBefore) {
                if (hits[row] <= 1) {
                    return row;
                }
                hits[row] = 0;
                queues.append(MAIN, row);
                if (queues.size(group, MAIN) > mainRows(group)) {
                    return fromMain(group, usedBefore);
                }
            }
            row = newer;
        }
        return ABSENT;
    }

    private int fromMain(int group, long usedBefore) {
        int row = queues.oldest(group, MAIN, usedBefore);
        while (row != ABSENT && hits[row] > 0) {
            hits[row]--;
            queues.append(MAIN, row);
            row = queues.oldest(group, MAIN, usedBefore);
        }
        return row;
    }

    @Override
    public void evicted(int row) {
        if (queues.isIn(SMALL, row)) {
            forgotten[state.rowKey[row]] = ++evictions[state.groupOf(row)];
        }
        queues.remove(row);
    }

    @Override
    public void promoted(int row) {
        int key = state.rowKey[row];
        int group = state.groupOf(row);
        boolean remembered = forgotten[key] > 0 && evictions[group] - forgotten[key] < mainRows(group);
        forgotten[key] = 0;
        hits[row] = 0;
        queues.append(remembered ? MAIN : SMALL, row);
    }

    @Override
    public void check() {
        queues.check();
    }
}
