package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

/** Lists of the free rows of each group, as many for each group as the rule needs; oldest first. */
final class RowQueues {
    private final PoolState state;
    private final int perGroup;
    private final IndexLists lists;

    RowQueues(PoolState state, int perGroup) {
        this.state = state;
        this.perGroup = perGroup;
        lists = new IndexLists(state.rowKey.length, state.groups * perGroup);
    }

    /** Every row that has an owner at the start, lowest first, goes to this list of its group. */
    void reset(int list) {
        lists.clear();
        for (int row = 0; row < state.rowKey.length; row++) {
            if (state.rowKey[row] != ABSENT && !state.isPinned(row)) {
                append(list, row);
            }
        }
    }

    /** Makes the row the newest of this list of its group, wherever it was. */
    void append(int list, int row) {
        lists.append(state.groupOf(row) * perGroup + list, row);
    }

    void remove(int row) {
        lists.remove(row);
    }

    boolean isIn(int list, int row) {
        return lists.listOf(row) == state.groupOf(row) * perGroup + list;
    }

    int size(int group, int list) {
        return lists.size(group * perGroup + list);
    }

    int first(int group, int list) {
        return lists.first(group * perGroup + list);
    }

    int after(int row) {
        return lists.after(row);
    }

    /** The oldest row of the list last used before clock {@code usedBefore}, or ABSENT. */
    int oldest(int group, int list, long usedBefore) {
        int row = first(group, list);
        while (row != ABSENT && state.rowUse[row] >= usedBefore) {
            row = lists.after(row);
        }
        return row;
    }

    /** As {@link #oldest}, from another list if this one has none. */
    int oldest(int group, int list, int otherwise, long usedBefore) {
        int row = oldest(group, list, usedBefore);
        return row != ABSENT ? row : oldest(group, otherwise, usedBefore);
    }

    /** Throws unless every owned row that is not pinned is in a list of its group. */
    void check() {
        for (int row = 0; row < state.rowKey.length; row++) {
            boolean expected = state.rowKey[row] != ABSENT && !state.isPinned(row);
            int list = lists.listOf(row);
            if (expected != (list != ABSENT) || (expected && list / perGroup != state.groupOf(row))) {
                throw new IllegalStateException("row " + row + " of group " + state.groupOf(row) + " is in list " + list
                        + ", " + perGroup + " lists per group");
            }
        }
    }
}
