package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/moe.h}, and the numbers that a launch needs. */
public final class MoeLayouts {
    /** Output channels of one warp's work. */
    public static final int TILE_CHANNELS = 64;

    /** Widest call of the decode kernel, in lanes. */
    public static final int MAX_DECODE_LANES = 128;

    /** Length of a chunk of K. */
    public static final int CHUNK_K = 160;

    /** Most tokens that take the decode kernel, as measured on an H200. */
    public static final int FASTEST_DECODE_TOKENS = 4;

    /** Blocks of the decode kernel, for both GEMMs. */
    public static final MoeBlock DECODE = new MoeBlock(2, 4, 1, 2);

    /** Blocks of the kernel for one token: its threads, and both GEMMs of a call with missed lanes. */
    public static final MoeBlock TOKEN = new MoeBlock(4, 4, 1, 2);

    /** Blocks of the kernels over aligned lanes, of 8 to 32 lanes. */
    public static final MoeBlock ALIGNED_8 = new MoeBlock(4, 1, 1, 2);

    public static final MoeBlock ALIGNED_16 = new MoeBlock(4, 1, 2, 2);
    public static final MoeBlock ALIGNED_32 = new MoeBlock(4, 1, 4, 2);

    /** Threads of a block of the alignment. */
    public static final int ALIGN_THREADS = 256;

    /** Threads of a block of the sum. */
    public static final int SUM_THREADS = 128;

    /** Where one part of the rows lies. */
    public static final StructLayout ROW_BASE =
            StructLayout.struct("RowBase").pointer("base").i64("strideBytes").bytes(16);

    /** Factors of one expert's accumulators. */
    public static final StructLayout EXPERT_ALPHAS =
            StructLayout.struct("ExpertAlphas").f32("gate", "up", "down").bytes(12);

    /** What alignment writes. */
    public static final StructLayout LANE_BLOCKS = StructLayout.struct("LaneBlocks")
            .pointer("sortedLanes", "blockExperts", "paddedLanes")
            .i32("blockLanes", "maxBlocks")
            .bytes(32);

    /** Argument of every MoE kernel. */
    public static final StructLayout MOE_PARAMS = StructLayout.struct("MoeParams")
            .pointer("activations", "ids", "rows", "missRows", "expertRows", "weights", "alphas")
            .array("w13", ROW_BASE.bytes(), 1)
            .array("s13", ROW_BASE.bytes(), 1)
            .array("w2", ROW_BASE.bytes(), 1)
            .array("s2", ROW_BASE.bytes(), 1)
            .array("host", ROW_BASE.bytes(), 1)
            .pointer("inner", "laneOut", "out", "counts")
            .array("blocks", LANE_BLOCKS.bytes(), 1)
            .i32("tokens", "topK", "hidden", "width", "experts", "blockLanes", "hostLanes", "firstBlock")
            .bytes(232);

    /** Argument of the kernels that plan a step and compute its token. */
    public static final StructLayout POOL_TOKEN_PARAMS = StructLayout.struct("PoolTokenParams")
            .array("plan", KernelLayouts.PLAN_PARAMS.bytes(), 1)
            .array("moe", MOE_PARAMS.bytes(), 1)
            .bytes(344);

    private MoeLayouts() {}

    /** Shape of the blocks over aligned lanes that is the fastest for so many tokens, as measured on an H200. */
    public static MoeBlock fastestAligned(int tokens) {
        return tokens <= 128 ? ALIGNED_8 : tokens <= 640 ? ALIGNED_16 : ALIGNED_32;
    }

    /** Words that a decode call counts with, 0 before the first one; those of {@link TokenGrid#exchangeWords} come behind. */
    public static int decodeCounts(int hidden) {
        return (hidden / TILE_CHANNELS + 4 + 2 * MAX_DECODE_LANES + 3) / 4 * 4;
    }

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(ROW_BASE, EXPERT_ALPHAS, LANE_BLOCKS, MOE_PARAMS, POOL_TOKEN_PARAMS);
    }
}
