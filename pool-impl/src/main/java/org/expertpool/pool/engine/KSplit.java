package org.expertpool.pool.engine;

/**
 * How the reduction length K of a GEMM is cut into chunks: by K alone, never by the number of lanes, so that a lane's sum
 * is the same in every batch. Every chunk sums from +0; chunk sums are added in ascending order.
 *
 * <p>Chunks are 160 long, the last one what is left: 2560 gives 16, 640 four, 64 a single one. So many short chunks let a
 * kernel keep all multiprocessors busy with the rows of one token.
 */
public final class KSplit {
    private static final int CHUNK = 160;

    private KSplit() {}

    /** Length of the chunks that K is cut into. */
    public static int chunk(int k) {
        return Math.min(CHUNK, k);
    }
}
