package org.expertpool.pool.policy;

import java.util.Arrays;
import org.expertpool.pool.plan.PoolConfig;

/**
 * The tables of pool-semantics 3 that decide placement, and the rows that nobody owns yet. Rows form groups within
 * which a miss looks for a victim: one group with global scope, one per layer with layer scope.
 */
final class PoolState {
    static final int ABSENT = -1;

    final int groups;
    final int rowsPerGroup;
    final int[] hotRow; // [L*E] row of the key, or ABSENT
    final int[] rowKey; // [L*n] owner, or ABSENT
    final long[] rowUse; // [L*n] clock of the last selection
    final int[] missCount; // [L*E] misses since last resident
    long clock;
    int forwards;

    private final PoolConfig config;
    private final Scope scope;
    private final Initial initial;
    private final int[] owned; // [groups] rows of the group with an owner; the first ones, as rows are filled in order

    PoolState(PolicySetup setup) {
        config = setup.pool();
        scope = setup.scope();
        initial = setup.initial();
        groups = scope == Scope.GLOBAL ? 1 : config.layers();
        rowsPerGroup = config.poolRows() / groups;
        hotRow = new int[config.keys()];
        rowKey = new int[config.poolRows()];
        rowUse = new long[config.poolRows()];
        missCount = new int[config.keys()];
        owned = new int[groups];
        reset();
    }

    PoolConfig config() {
        return config;
    }

    void reset() {
        Arrays.fill(hotRow, ABSENT);
        Arrays.fill(rowKey, ABSENT);
        Arrays.fill(rowUse, 0);
        Arrays.fill(missCount, 0);
        clock = 0;
        forwards = 0;
        if (initial == Initial.EMPTY) {
            Arrays.fill(owned, 0);
            return;
        }
        Arrays.fill(owned, rowsPerGroup);
        int resident = config.residentPerLayer();
        for (int row = 0; row < rowKey.length; row++) {
            rowKey[row] = config.key(row / resident, row % resident);
            hotRow[rowKey[row]] = row;
        }
    }

    /** The group whose rows a miss of the layer may take. */
    int group(int layer) {
        return scope == Scope.GLOBAL ? 0 : layer;
    }

    int groupOf(int row) {
        return row / rowsPerGroup;
    }

    /** The lowest row of the group that has no owner, or ABSENT. */
    int emptyRow(int group) {
        return owned[group] == rowsPerGroup ? ABSENT : group * rowsPerGroup + owned[group];
    }

    /** The key becomes the row's owner; a former owner is evicted. */
    void own(int key, int row) {
        int former = rowKey[row];
        if (former == ABSENT) {
            owned[groupOf(row)]++;
        } else {
            hotRow[former] = ABSENT;
        }
        rowKey[row] = key;
        hotRow[key] = row;
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
            }
        }
        long resident = Arrays.stream(hotRow).filter(row -> row != ABSENT).count();
        if (resident != ownedRows || ownedRows != Arrays.stream(owned).sum()) {
            throw new IllegalStateException(resident + " resident keys, " + ownedRows + " owned rows, "
                    + Arrays.stream(owned).sum() + " counted");
        }
    }
}
