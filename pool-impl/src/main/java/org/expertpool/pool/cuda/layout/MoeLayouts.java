package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/moe.h}, and the numbers that a launch needs. */
public final class MoeLayouts {
    /** Output channels of one warp's work. */
    public static final int TILE_CHANNELS = 64;

    /** Widest call of the decode kernels, in lanes. */
    public static final int MAX_DECODE_LANES = 128;

    /** Warps of a decode block that take chunks of K side by side: for one token, and for more. */
    public static final int WIDE_CHUNK_WARPS = 8;

    public static final int NARROW_CHUNK_WARPS = 4;

    /** Length of a chunk of K. */
    public static final int CHUNK_K = 160;

    /** Threads of a block of the GEMMs over aligned lanes. */
    public static final int GENERAL_THREADS = 128;

    /** Threads of a block of the alignment and of the sum. */
    public static final int ALIGN_THREADS = 256;

    /** Where one part of the rows lies. */
    public static final StructLayout ROW_BASE =
            StructLayout.struct("RowBase").pointer("base").i64("strideBytes").bytes(16);

    /** Factors of one expert's accumulators. */
    public static final StructLayout EXPERT_ALPHAS =
            StructLayout.struct("ExpertAlphas").f32("gate", "up", "down").bytes(12);

    /** What alignment writes. */
    public static final StructLayout LANE_BLOCKS = StructLayout.struct("LaneBlocks")
            .pointer("sortedLanes", "blockExperts", "paddedLanes", "laneCounts")
            .i32("blockLanes", "maxBlocks")
            .bytes(40);

    /** Argument of every MoE kernel. */
    public static final StructLayout MOE_PARAMS = StructLayout.struct("MoeParams")
            .pointer("activations", "ids", "rows", "expertRows", "weights", "alphas")
            .array("w13", ROW_BASE.bytes(), 1)
            .array("s13", ROW_BASE.bytes(), 1)
            .array("w2", ROW_BASE.bytes(), 1)
            .array("s2", ROW_BASE.bytes(), 1)
            .pointer("inner", "laneOut", "out", "arrivals")
            .array("blocks", LANE_BLOCKS.bytes(), 1)
            .i32("tokens", "topK", "hidden", "width", "experts", "blockLanes", "calls", "firstBlock")
            .bytes(216);

    private MoeLayouts() {}

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(ROW_BASE, EXPERT_ALPHAS, LANE_BLOCKS, MOE_PARAMS);
    }
}
