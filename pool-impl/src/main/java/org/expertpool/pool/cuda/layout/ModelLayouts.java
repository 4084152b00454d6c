package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/model.h}, and the numbers that a launch needs. */
public final class ModelLayouts {
    /** Threads of a stand-in's block. */
    public static final int STAND_IN_THREADS = 512;

    /** Blocks of a stand-in for each multiprocessor. */
    public static final int STAND_IN_BLOCKS_PER_PROCESSOR = 2;

    /** Tokens for which one block of the router works. */
    public static final int ROUTER_TOKENS = 4;

    /** Experts for which one block of the router works, a warp each. */
    public static final int ROUTER_WARPS = 4;

    /** Threads of a block that chooses for one token. */
    public static final int CHOOSE_THREADS = 256;

    /** Result and scratch of a stand-in. */
    public static final StructLayout STAND_IN_STATE = StructLayout.struct("StandInState")
            .i64("digest", "sum")
            .i32("arrived", "reserved")
            .bytes(24);

    /** Argument of a stand-in. */
    public static final StructLayout STAND_IN_PARAMS = StructLayout.struct("StandInParams")
            .pointer("memory")
            .i64("bytes", "bytesPerUnit")
            .pointer("units")
            .i64("maxUnits")
            .pointer("after", "state")
            .i32("afterCount", "reserved")
            .bytes(64);

    /** Argument of the router. */
    public static final StructLayout ROUTER_PARAMS = StructLayout.struct("RouterParams")
            .pointer("activations", "matrix", "logits", "ids", "weights")
            .i32("tokens", "hidden", "experts", "topK")
            .bytes(56);

    private ModelLayouts() {}

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(STAND_IN_STATE, STAND_IN_PARAMS, ROUTER_PARAMS);
    }
}
