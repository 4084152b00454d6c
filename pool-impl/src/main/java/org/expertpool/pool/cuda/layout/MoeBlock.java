package org.expertpool.pool.cuda.layout;

/**
 * How the threads of a block of the MoE GEMMs share its work: {@code MoeBlock} of {@code pool/moe.h}.
 *
 * @param tiles groups of 64 output channels
 * @param chunkWarps warps a tile that take chunks of K side by side
 * @param laneTiles groups of 8 lanes
 * @param slots half chunks in a warp's ring
 */
public record MoeBlock(int tiles, int chunkWarps, int laneTiles, int slots) {
    private static final int WARP = 32;
    private static final int HALF_STEPS = MoeLayouts.CHUNK_K / 32;
    private static final int HALF_CHUNK_BYTES = HALF_STEPS * MoeLayouts.TILE_CHANNELS * 8 + (HALF_STEPS + 1) / 2 * 128;
    private static final int EXPANDED_BYTES = HALF_STEPS * MoeLayouts.TILE_CHANNELS * 4;

    public int threads() {
        return tiles * chunkWarps * WARP;
    }

    /** Most lanes of a group. */
    public int lanes() {
        return laneTiles * 8;
    }

    /** Blocks of gate and up for one group of lanes. */
    public int gateUpParts(int width) {
        return ceil(width / MoeLayouts.TILE_CHANNELS, tiles / 2);
    }

    /** Blocks of down for one group of lanes. */
    public int downParts(int hidden) {
        return ceil(hidden / MoeLayouts.TILE_CHANNELS, tiles);
    }

    /** Blocks of both GEMMs for one group of lanes. */
    public int parts(int hidden, int width) {
        return gateUpParts(width) + downParts(hidden);
    }

    /** Dynamic shared memory of a block whose groups have at most so many lanes. */
    public int sharedBytes(int lanesAtMost) {
        int rings = tiles * chunkWarps * (slots * HALF_CHUNK_BYTES + EXPANDED_BYTES);
        int activations = (slots / 2 + 1) * lanesAtMost * (chunkWarps * MoeLayouts.CHUNK_K * 2 + 16);
        int sumRow = MoeLayouts.TILE_CHANNELS + (chunkWarps == 1 ? 4 : 0);
        int sums = tiles * lanesAtMost * sumRow * Float.BYTES;
        return chunkWarps > 1 ? rings + activations + (chunkWarps + 1) * sums : Math.max(rings + activations, sums);
    }

    private static int ceil(int value, int unit) {
        return (value + unit - 1) / unit;
    }
}
