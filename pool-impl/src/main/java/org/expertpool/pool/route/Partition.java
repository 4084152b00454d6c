package org.expertpool.pool.route;

import java.util.Arrays;
import org.expertpool.pool.plan.Lanes;
import org.expertpool.pool.plan.PoolTables;

/**
 * A forward wider than the planner, cut in two (pool-semantics 6): experts that are resident are read from the bank, the
 * others from the host source. Every valid lane is in exactly one part; the placement does not change.
 */
public final class Partition {
    private static final int ABSENT = -1;

    private final int[] bankIds;
    private final int[] hostIds;
    private final int[] bankRowByExpert;
    private final int[] hostRowByExpert;

    private Partition(PoolTables tables, int layer, int[] safeIds) {
        int experts = tables.config().experts();
        bankRowByExpert = new int[experts];
        hostRowByExpert = new int[experts];
        for (int expert = 0; expert < experts; expert++) {
            int key = tables.config().key(layer, expert);
            bankRowByExpert[expert] = tables.hotRow(key);
            hostRowByExpert[expert] = tables.coldRow(key);
        }
        bankIds = keep(safeIds, bankRowByExpert);
        hostIds = keep(safeIds, hostRowByExpert);
    }

    /**
     * Splits the lanes of one layer call by where the tables say each expert lies.
     *
     * @param safeIds expert id by lane, [lanes]; -1 for padding and invalid lanes
     */
    public static Partition split(PoolTables tables, int layer, int[] safeIds) {
        return new Partition(tables, layer, safeIds);
    }

    /** Expert id by lane, [lanes]; -1 also where the expert is not resident. */
    public int[] bankIds() {
        return bankIds;
    }

    /** Expert id by lane, [lanes]; -1 also where the expert is resident. */
    public int[] hostIds() {
        return hostIds;
    }

    /** Bank row by expert of the layer, [E]; -1 where not resident. */
    public int[] bankRowByExpert() {
        return bankRowByExpert;
    }

    /** Host row by expert of the layer, [E]; -1 where resident. */
    public int[] hostRowByExpert() {
        return hostRowByExpert;
    }

    private static int[] keep(int[] safeIds, int[] rowByExpert) {
        return Arrays.stream(safeIds)
                .map(id -> id == Lanes.PADDING || rowByExpert[id] == ABSENT ? Lanes.PADDING : id)
                .toArray();
    }
}
