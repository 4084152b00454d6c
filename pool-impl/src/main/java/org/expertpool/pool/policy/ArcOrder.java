package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * ARC (Megiddo and Modha, FAST 2003): {@code T1} holds rows used once, {@code T2} rows used again, both LRU; {@code B1} and
 * {@code B2} remember the keys that left them. A miss that is remembered moves the target size of {@code T1}, by
 * {@code max(1, other ghost / this ghost)}, towards the list that it had left, and enters {@code T2}; any other enters
 * {@code T1}. Rows that the event uses are passed over. Keeps no counts. All rows start in {@code T1}.
 */
final class ArcOrder implements EvictionOrder {
    private static final int FIRST = 0; // T1 and B1
    private static final int SECOND = 1; // T2 and B2

    private final PoolState state;
    private final RowQueues recent; // T1, T2
    private final IndexLists ghosts; // B1, B2 of each group, of keys
    private final double[] target; // [groups] p, 0 to rows
    private boolean forgets; // the victim leaves T1 without being remembered

    ArcOrder(PoolState state) {
        this.state = state;
        recent = new RowQueues(state, 2);
        ghosts = new IndexLists(state.hotRow.length, 2 * state.groups);
        target = new double[state.groups];
        reset();
    }

    @Override
    public void reset() {
        recent.reset(FIRST);
        ghosts.clear();
        Arrays.fill(target, 0);
        forgets = false;
    }

    @Override
    public void hit(int row, int key, float weight) {
        recent.append(SECOND, row);
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        int b1 = ghosts.size(2 * group + FIRST);
        int b2 = ghosts.size(2 * group + SECOND);
        int t1 = recent.size(group, FIRST);
        int rows = state.freeRows(group);
        int remembered = ghosts.listOf(key) == ABSENT ? ABSENT : ghosts.listOf(key) - 2 * group;
        if (remembered == FIRST) {
            target[group] = Math.min(rows, target[group] + Math.max(1, (double) b2 / b1));
        } else if (remembered == SECOND) {
            target[group] = Math.max(0, target[group] - Math.max(1, (double) b1 / b2));
        }
        forgets = remembered == ABSENT && t1 >= rows;
        boolean fromFirst =
                forgets || (t1 > 0 && (t1 > target[group] || (remembered == SECOND && t1 == target[group])));
        return recent.oldest(group, fromFirst ? FIRST : SECOND, fromFirst ? SECOND : FIRST, usedBefore);
    }

    @Override
    public void evicted(int row) {
        int list = recent.isIn(FIRST, row) ? FIRST : SECOND;
        recent.remove(row);
        if (!forgets || list == SECOND) {
            ghosts.append(2 * state.groupOf(row) + list, state.rowKey[row]);
        }
    }

    @Override
    public void promoted(int row) {
        int key = state.rowKey[row];
        boolean remembered = ghosts.listOf(key) != ABSENT;
        if (remembered) {
            ghosts.remove(key);
        }
        recent.append(remembered ? SECOND : FIRST, row);
        int group = state.groupOf(row);
        int rows = state.freeRows(group);
        // Before a new key enters, T1 and B1 leave room for it within c, and all four lists within 2c.
        ghosts.trim(2 * group + FIRST, Math.max(0, rows - recent.size(group, FIRST)));
        int resident = recent.size(group, FIRST) + recent.size(group, SECOND);
        ghosts.trim(2 * group + SECOND, Math.max(0, 2 * rows - resident - ghosts.size(2 * group + FIRST)));
    }

    @Override
    public void check() {
        recent.check();
        for (int group = 0; group < state.groups; group++) {
            if (ghosts.size(2 * group) + ghosts.size(2 * group + 1) > 2 * state.freeRows(group)) {
                throw new IllegalStateException("group " + group + " remembers more than twice its rows");
            }
        }
    }
}
