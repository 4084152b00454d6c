package org.expertpool.pool.cuda.layout;

import static org.expertpool.pool.cuda.layout.MoeLayouts.CHUNK_K;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TILE_CHANNELS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TOKEN;

/**
 * How the blocks of the kernel for one token share its work, all at the same time: {@code TokenGrid} of
 * {@code pool/moe.h}.
 *
 * @param blocks at most the device's multiprocessors
 */
public record TokenGrid(int topK, int hidden, int width, int blocks) {
    private static final int WARP = 32;
    private static final int MAX_LANES = WARP;
    private static final int MAX_BLOCKS = 1023;
    private static final int STEPS = CHUNK_K / 16;
    private static final int SCALE_BYTES = STEPS * TILE_CHANNELS;
    private static final int CHUNK_BYTES = STEPS * TILE_CHANNELS * 8 + SCALE_BYTES;
    private static final int PLACES = 2;
    private static final int WARP_BYTES = PLACES * CHUNK_BYTES + 2 * SCALE_BYTES;

    /** Whether the kernel can take a token of this shape by blocks that may have so much shared memory. */
    public boolean fits(long sharedBytesAtMost) {
        int warps = TOKEN.threads() / WARP;
        return topK <= MAX_LANES
                && blocks >= 1
                && blocks <= MAX_BLOCKS
                && ceil(units(), blocks) <= warps
                && mostTiles() <= warps
                && mostTurns(warps) + PLACES <= WARP
                && sharedBytes() <= sharedBytesAtMost;
    }

    /** Dynamic shared memory of a block. */
    public int sharedBytes() {
        int downTiles = hidden / TILE_CHANNELS;
        int lanes = (mostTiles() + downTiles - 2) / downTiles + 1;
        int activations = (ceil(hidden, CHUNK_K) + lanes * ceil(width, CHUNK_K)) * CHUNK_K * 2;
        int sums = Math.max(gateUpJobs(), downJobs());
        return TOKEN.threads() / WARP * WARP_BYTES + activations + sums * TILE_CHANNELS * Float.BYTES;
    }

    /** Words of 32 bits through which the blocks exchange results, 0 before the first call. */
    public long exchangeWords() {
        return (long) topK * (width + hidden) / 2;
    }

    /** Chunks that a warp multiplies. */
    private int mostTurns(int warps) {
        return ceil(gateUpJobs(), warps) + ceil(downJobs(), warps);
    }

    private int gateUpJobs() {
        return 2 * ceil(units(), blocks) * ceil(hidden, CHUNK_K);
    }

    private int downJobs() {
        return mostTiles() * ceil(width, CHUNK_K);
    }

    private int units() {
        return topK * (width / TILE_CHANNELS);
    }

    private int mostTiles() {
        return ceil(topK * (hidden / TILE_CHANNELS), blocks);
    }

    private static int ceil(int value, int unit) {
        return (value + unit - 1) / unit;
    }
}
