package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/partition.h}. */
public final class PartitionLayouts {
    /** Threads of the partition's one block. */
    public static final int PARTITION_THREADS = 1024;

    /** Which experts of a call the bank lacks. */
    public static final StructLayout PARTITION_OUTPUT = StructLayout.struct("PartitionOutput")
            .i32("missing", "touched", "invalidLane", "reserved")
            .array("experts", Integer.BYTES, KernelLayouts.MAX_EXPERTS)
            .array("laneCounts", Integer.BYTES, KernelLayouts.MAX_EXPERTS)
            .bytes(16 + 8 * KernelLayouts.MAX_EXPERTS);

    /** Argument of the partition kernel. */
    public static final StructLayout PARTITION_PARAMS = StructLayout.struct("PartitionParams")
            .array("tables", KernelLayouts.PLAN_TABLES.bytes(), 1)
            .pointer("ids", "weights", "safeIds", "ringRows", "output")
            .i32("layer", "lanes", "ringSize", "reserved")
            .bytes(128);

    private PartitionLayouts() {}

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(PARTITION_OUTPUT, PARTITION_PARAMS);
    }
}
