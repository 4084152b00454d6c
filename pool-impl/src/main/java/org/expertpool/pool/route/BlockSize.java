package org.expertpool.pool.route;

/** The choice of lanes per block (marlin-nvfp4 5.1). */
public final class BlockSize {
    private static final int[] SIZES = {8, 16, 32, 48, 64};
    private static final double FILL_LIMIT = 0.9;

    private BlockSize() {}

    /**
     * The smallest block that the mean expert does not fill to nine tenths, else 64.
     *
     * @param experts experts of one layer; never the bank's rows, with which the mean would be far too small
     */
    public static int choose(long tokens, int topK, int experts) {
        for (int size : SIZES) {
            // In doubles and in this order, as upstream computes it: an exact comparison may differ at the edge.
            if ((double) (tokens * topK) / experts / size < FILL_LIMIT) {
                return size;
            }
        }
        return SIZES[SIZES.length - 1];
    }
}
