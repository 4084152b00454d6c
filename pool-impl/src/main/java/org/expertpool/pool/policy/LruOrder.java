package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Least recently used, the spec's rule: the victim is the row with the smallest {@code (rowUse, row)}. A linked list
 * through the rows of each group holds that order, so a step costs a few writes per expert whatever the number of rows.
 * Rows used in a step leave the list, and are appended in the order of their index when it ends: they all carry the same
 * stamp, and it is the largest. Keeps no counts: a stamp goes with its row.
 *
 * <p>Since all experts of an event carry one stamp and rows break the tie, one row more may cost a miss; with as many more as
 * an event has other experts, misses never rise (notes/analysis.md).
 */
final class LruOrder implements EvictionOrder {
    private final PoolState state;
    private final int[] next; // [rows + groups] entry rows + g heads group g's circular list
    private final int[] previous; // [rows + groups]
    private final int[] touched; // [E] rows of the current step, which are in no list
    private int touchedRows;

    LruOrder(PoolState state) {
        this.state = state;
        int rows = state.rowKey.length;
        next = new int[rows + state.groups];
        previous = new int[rows + state.groups];
        touched = new int[state.config().experts()];
        reset();
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of());
    }

    @Override
    public void reset() {
        touchedRows = 0;
        int rows = state.rowKey.length;
        for (int group = 0; group < state.groups; group++) {
            next[rows + group] = rows + group;
            previous[rows + group] = rows + group;
        }
        for (int row = 0; row < rows; row++) {
            if (state.rowKey[row] != ABSENT && !state.isPinned(row)) {
                append(state.groupOf(row), row);
            }
        }
    }

    @Override
    public void hit(int row, int key, float weight) {
        unlink(row);
        touched[touchedRows++] = row;
    }

    @Override
    public void promoted(int row) {
        if (row == next[rowHead(row)]) {
            unlink(row); // a victim is the first of its list; a row without owner is in none
        }
        touched[touchedRows++] = row;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        int head = state.rowKey.length + group;
        int row = next[head];
        return row != head && state.rowUse[row] < usedBefore ? row : ABSENT;
    }

    @Override
    public void endStep(int group) {
        sortTouched();
        for (int i = 0; i < touchedRows; i++) {
            append(group, touched[i]);
        }
        touchedRows = 0;
    }

    /** Insertion sort: a handful of rows, in which order the router named them. */
    private void sortTouched() {
        for (int i = 1; i < touchedRows; i++) {
            int row = touched[i];
            int j = i;
            while (j > 0 && touched[j - 1] > row) {
                touched[j] = touched[j - 1];
                j--;
            }
            touched[j] = row;
        }
    }

    private void append(int group, int row) {
        int head = state.rowKey.length + group;
        int last = previous[head];
        next[last] = row;
        previous[row] = last;
        next[row] = head;
        previous[head] = row;
    }

    private void unlink(int row) {
        next[previous[row]] = next[row];
        previous[next[row]] = previous[row];
    }

    private int rowHead(int row) {
        return state.rowKey.length + state.groupOf(row);
    }

    @Override
    public void check() {
        int listed = 0;
        for (int group = 0; group < state.groups; group++) {
            int head = state.rowKey.length + group;
            for (int row = next[head]; row != head; row = next[row]) {
                listed++;
                int after = next[row];
                boolean inOrder = after == head
                        || state.rowUse[row] < state.rowUse[after]
                        || (state.rowUse[row] == state.rowUse[after] && row < after);
                if (!inOrder || state.groupOf(row) != group || state.rowKey[row] == ABSENT) {
                    throw new IllegalStateException("row " + row + " stands wrong in the order of group " + group);
                }
            }
        }
        long owned = IntStream.range(0, state.rowKey.length)
                .filter(row -> state.rowKey[row] != ABSENT && !state.isPinned(row))
                .count();
        if (listed != owned) {
            throw new IllegalStateException(listed + " rows in the order, " + owned + " owned");
        }
    }
}
