package org.expertpool.pool.route;

import java.util.Arrays;
import org.expertpool.pool.PoolFailureException;

/** The step from logical expert ids of aligned blocks to physical rows (pool-semantics 5). */
public final class RowRemap {
    private static final int ABSENT = -1;

    private RowRemap() {}

    /**
     * The row of each block; -1 for blocks at or beyond the padded count.
     *
     * @param rowByExpert bank row (step map or hotRow) or host row (coldRow) by expert of the layer, [E]
     * @throws PoolFailureException a live block's expert has no row
     */
    public static int[] rows(LaneBlocks blocks, int[] rowByExpert) {
        int[] rows = new int[blocks.blocks()];
        Arrays.fill(rows, ABSENT);
        for (int block = 0; block < blocks.liveBlocks(); block++) {
            int expert = blocks.blockExperts()[block];
            if (expert < 0 || rowByExpert[expert] == ABSENT) {
                throw new PoolFailureException(
                        "live block " + block + " of " + blocks.liveBlocks() + ": expert " + expert + " has no row");
            }
            rows[block] = rowByExpert[expert];
        }
        return rows;
    }
}
