package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/route.h}. */
public final class RouteLayouts {
    /** Threads of the replay's blocks. */
    public static final int THREADS = 512;

    private static final int BLOCK_WORDS = 16 * THREADS;
    private static final int MOST_BLOCKS = 128;

    /** How far a replay has come, and what it has seen. */
    public static final StructLayout ROUTE_STATE = StructLayout.struct("RouteState")
            .i64("forward", "hash", "selected", "promoted", "staged", "sum")
            .i32("pending", "tapeForward", "ended", "reserved")
            .bytes(64);

    /** Argument of the kernel that routes from a recording. */
    public static final StructLayout ROUTE_PARAMS = StructLayout.struct("RouteParams")
            .pointer("tapeIds", "tapeWeights", "state", "hashes", "output", "plan", "digest", "ids", "weights")
            .i32("layer", "layers", "lanes", "experts", "tapeForwards", "hashSlots", "outputWords", "sanitise")
            .bytes(104);

    private RouteLayouts() {}

    /** Blocks that read so many words of output. */
    public static int blocks(int outputWords) {
        return Math.max(1, Math.min((outputWords + BLOCK_WORDS - 1) / BLOCK_WORDS, MOST_BLOCKS));
    }

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(ROUTE_STATE, ROUTE_PARAMS);
    }
}
