package org.expertpool.pool.policy;

/**
 * 2Q, full version (Johnson and Shasha, VLDB 1994): missing keys enter {@code A1in}, a FIFO that should hold a quarter of the
 * rows; what leaves it is remembered in {@code A1out}, half as many keys as rows. A missing key remembered there, looked up before
 * anything leaves, enters {@code Am}, an LRU list. Hits in {@code A1in} change nothing. The oldest of {@code A1in} goes while that is above its size,
 * else the oldest of {@code Am}; rows that the event uses are passed over. Keeps no counts. All rows start in {@code A1in}.
 */
final class TwoQueueOrder implements EvictionOrder {
    private static final int A1_IN = 0;
    private static final int AM = 1;

    private final PoolState state;
    private final RowQueues queues;
    private final IndexLists a1Out; // of keys, a list per group
    private int entering = PoolState.ABSENT; // the missing key, where A1out remembered it before anything left

    TwoQueueOrder(PoolState state) {
        this.state = state;
        queues = new RowQueues(state, 2);
        a1Out = new IndexLists(state.hotRow.length, state.groups);
        reset();
    }

    @Override
    public void reset() {
        queues.reset(A1_IN);
        a1Out.clear();
        entering = PoolState.ABSENT;
    }

    @Override
    public void hit(int row, int key, float weight) {
        if (queues.isIn(AM, row)) {
            queues.append(AM, row);
        }
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        entering = a1Out.listOf(key) == PoolState.ABSENT ? PoolState.ABSENT : key;
        boolean fromIn = queues.size(group, A1_IN) > Math.max(1, state.freeRows(group) / 4);
        return queues.oldest(group, fromIn ? A1_IN : AM, fromIn ? AM : A1_IN, usedBefore);
    }

    @Override
    public void evicted(int row) {
        if (entering != PoolState.ABSENT) {
            a1Out.remove(entering);
        }
        if (queues.isIn(A1_IN, row)) {
            int group = state.groupOf(row);
            a1Out.append(group, state.rowKey[row]);
            a1Out.trim(group, Math.max(1, state.freeRows(group) / 2));
        }
        queues.remove(row);
    }

    @Override
    public void promoted(int row) {
        boolean remembered = state.rowKey[row] == entering;
        queues.append(remembered ? AM : A1_IN, row);
    }

    @Override
    public void check() {
        queues.check();
    }
}
