package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.CHUNK_K;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MAX_DECODE_LANES;
import static org.expertpool.pool.cuda.layout.MoeLayouts.NARROW_CHUNK_WARPS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TILE_CHANNELS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.WIDE_CHUNK_WARPS;

/**
 * A way through the MoE kernels; all give the same bits.
 *
 * @param chunkWarps warps of a decode block of gate and up that take chunks side by side; 0: over aligned lanes instead
 * @param blockLanes most lanes of a block
 */
record MoeWay(int chunkWarps, int blockLanes) {
    private static final int WARP = 32;

    /** The fastest way for so many tokens, as measured on an H200 (experiments/results/moe-gemm/2026-11-29.2). */
    static MoeWay of(int tokens, int lanes) {
        if (tokens > 4 || lanes > MAX_DECODE_LANES) {
            return aligned(tokens);
        }
        if (tokens == 1) {
            return new MoeWay(WIDE_CHUNK_WARPS, 1);
        }
        return new MoeWay(NARROW_CHUNK_WARPS, tokens == 2 ? 1 : 3);
    }

    /** The fastest way over aligned lanes. */
    static MoeWay aligned(int tokens) {
        return new MoeWay(0, tokens <= 128 ? 8 : 16);
    }

    boolean decode() {
        return chunkWarps > 0;
    }

    /** Suffix of the gate-and-up kernel of the decode. */
    String suffix() {
        return chunkWarps == WIDE_CHUNK_WARPS ? "_wide" : "";
    }

    /** Threads of a decode block that computes so many groups of 64 channels side by side. */
    static int decodeThreads(int chunkWarps, int sides) {
        return chunkWarps * sides * WARP;
    }

    /** Dynamic shared memory of a decode block: two rounds of activations, and sums in all and of each chunk. */
    int sharedBytes(int warps, int sides) {
        int rowWords = warps * CHUNK_K / 2 + 4;
        int activations = 2 * blockLanes * rowWords * Integer.BYTES;
        int sums = sides * blockLanes * TILE_CHANNELS * Float.BYTES;
        return activations + (warps + 1) * sums;
    }
}
