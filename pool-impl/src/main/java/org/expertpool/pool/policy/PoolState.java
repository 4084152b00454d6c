package org.expertpool.pool.policy;

import java.util.Arrays;
import org.expertpool.pool.plan.PoolConfig;

/**
 * The tables of pool-semantics 3 that decide placement, and the rows that nobody owns yet. Rows form groups within
 * which a miss looks for a victim: one group with global scope, one per layer otherwise. The first rows of a group may
 * be pinned: they are never given up.
 */
final class PoolState {
    static final int ABSENT = -1;

    final int groups;
    final int[] hotRow; // [L*E] row of the key, or ABSENT
    final int[] rowKey; // [L*n] owner, or ABSENT
    final long[] rowUse; // [L*n] clock of the last selection
    final int[] missCount; // [L*E] misses since last resident
    long clock;
    int forwards;

    private final PoolConfig config;
    private final StartPlacement start;
    private final int[] rowGroup; // [L*n]
    private final int[] owned; // [groups] rows of the group with an owner; the first ones, as rows are filled in order

    PoolState(PolicySetup setup) {
        config = setup.pool();
        start = new StartPlacement(setup);
        groups = start.pinnedRows.length;
        hotRow = new int[config.keys()];
        rowKey = new int[config.poolRows()];
        rowUse = new long[config.poolRows()];
        missCount = new int[config.keys()];
        rowGroup = new int[config.poolRows()];
        owned = new int[groups];
        for (int group = 0; group < groups; group++) {
            Arrays.fill(rowGroup, firstRow(group), endRow(group), group);
        }
        reset();
    }

    PoolConfig config() {
        return config;
    }

    void reset() {
        Arrays.fill(hotRow, ABSENT);
        Arrays.fill(rowUse, 0);
        Arrays.fill(missCount, 0);
        Arrays.fill(owned, 0);
        clock = 0;
        forwards = 0;
        System.arraycopy(start.owner, 0, rowKey, 0, rowKey.length);
        for (int row = 0; row < rowKey.length; row++) {
            if (rowKey[row] != ABSENT) {
                hotRow[rowKey[row]] = row;
                owned[rowGroup[row]]++;
            }
        }
    }

    /** The group whose rows a miss of the layer may take. */
    int group(int layer) {
        return groups == 1 ? 0 : layer;
    }

    int groupOf(int row) {
        return rowGroup[row];
    }

    int firstRow(int group) {
        return start.firstRow[group];
    }

    int endRow(int group) {
        return start.firstRow[group + 1];
    }

    /** The first row of the group that is not pinned; those up to {@link #endRow} may be given up. */
    int firstFreeRow(int group) {
        return start.firstRow[group] + start.pinnedRows[group];
    }

    /** Rows of the group that are not pinned: what an eviction order has to work with. */
    int freeRows(int group) {
        return endRow(group) - firstFreeRow(group);
    }

    boolean isPinned(int row) {
        return row < firstFreeRow(rowGroup[row]);
    }

    /** The first key that may own a row of the group. */
    int firstKey(int group) {
        return groups == 1 ? 0 : config.key(group, 0);
    }

    int endKey(int group) {
        return groups == 1 ? config.keys() : config.key(group, 0) + config.experts();
    }

    /** The lowest row of the group that has no owner, or ABSENT. */
    int emptyRow(int group) {
        int row = firstRow(group) + owned[group];
        return row == endRow(group) ? ABSENT : row;
    }

    /** The key becomes the row's owner; a former owner is evicted. */
    void own(int key, int row) {
        int former = rowKey[row];
        if (former == ABSENT) {
            owned[rowGroup[row]]++;
        } else {
            hotRow[former] = ABSENT;
        }
        rowKey[row] = key;
        hotRow[key] = row;
    }

    /**
     * The free row of the group with the smallest {@code (priority, row)} among those last used before clock
     * {@code usedBefore}, or ABSENT: how a single block finds a victim, a scan of one array. All rows have owners.
     */
    int leastPriority(int group, long usedBefore, long[] priority) {
        int best = ABSENT;
        long least = Long.MAX_VALUE;
        int end = endRow(group);
        for (int row = firstFreeRow(group); row < end; row++) {
            if (priority[row] < least && rowUse[row] < usedBefore) {
                least = priority[row];
                best = row;
            }
        }
        return best;
    }

    /** Throws unless resident keys and owned rows are a bijection and no row was used in the future. */
    void check() {
        int ownedRows = 0;
        for (int row = 0; row < rowKey.length; row++) {
            if (rowUse[row] > clock) {
                throw new IllegalStateException("row " + row + ": rowUse " + rowUse[row] + " is after clock " + clock);
            }
            if (rowKey[row] != ABSENT) {
                ownedRows++;
                if (hotRow[rowKey[row]] != row) {
                    throw new IllegalStateException(
                            "row " + row + ": its owner, key " + rowKey[row] + ", has row " + hotRow[rowKey[row]]);
                }
                if (isPinned(row) && rowKey[row] != start.owner[row]) {
                    throw new IllegalStateException("row " + row + ": pinned, but given up");
                }
            }
        }
        long resident = Arrays.stream(hotRow).filter(row -> row != ABSENT).count();
        if (resident != ownedRows || ownedRows != Arrays.stream(owned).sum()) {
            throw new IllegalStateException(resident + " resident keys, " + ownedRows + " owned rows, "
                    + Arrays.stream(owned).sum() + " counted");
        }
    }
}
