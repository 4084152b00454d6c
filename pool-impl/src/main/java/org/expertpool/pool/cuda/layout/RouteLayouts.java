package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/route.h}. */
public final class RouteLayouts {
    /** Threads of the replay's one block. */
    public static final int THREADS = 512;

    /** How far a replay has come, and what it has seen. */
    public static final StructLayout ROUTE_STATE = StructLayout.struct("RouteState")
            .i64("forward", "hash", "selected", "promoted", "staged", "pending")
            .bytes(48);

    /** Argument of the kernel that routes from a recording. */
    public static final StructLayout ROUTE_PARAMS = StructLayout.struct("RouteParams")
            .pointer("tapeIds", "tapeWeights", "state", "hashes", "output", "plan", "digest", "ids", "weights")
            .i32("layer", "layers", "lanes", "experts", "tapeForwards", "hashSlots", "outputWords", "sanitise")
            .bytes(104);

    private RouteLayouts() {}

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(ROUTE_STATE, ROUTE_PARAMS);
    }
}
