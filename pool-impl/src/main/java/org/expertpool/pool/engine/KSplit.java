package org.expertpool.pool.engine;

/**
 * How the reduction length K of a GEMM is cut into chunks: by K alone, never by the number of lanes, so that a lane's sum
 * is the same in every batch. Every chunk sums from +0; chunk sums are added in ascending order.
 *
 * <p>Chunks are equal but for a shorter last one, multiples of 64, and as few as keep each at or below 640: 2560 gives
 * four of 640, 2048 four of 512, 768 two of 384, 640 and less a single one.
 */
public final class KSplit {
    private static final int LARGEST_CHUNK = 640;
    private static final int TILE = 64;

    private KSplit() {}

    /** Length of the chunks that K is cut into. */
    public static int chunk(int k) {
        int chunks = ceilDiv(k, LARGEST_CHUNK);
        return ceilDiv(ceilDiv(k, chunks), TILE) * TILE;
    }

    private static int ceilDiv(int dividend, int divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
