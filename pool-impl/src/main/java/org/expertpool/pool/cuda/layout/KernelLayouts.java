package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/layout.h}. Little-endian, 64-bit pointers. */
public final class KernelLayouts {
    /** Version of the layouts; a kernel binary with another is refused. */
    public static final int VERSION = 6;

    /** Widest step, in lanes. */
    public static final int MAX_LANES = 64;

    /** Most experts of one layer that the planner kernel takes. */
    public static final int MAX_EXPERTS = 4096;

    /** Parts of an expert row: w13 weights, w13 scales, w2 weights, w2 scales. */
    public static final int MAX_ROW_PARTS = 4;

    /** Threads of the planner's one block. */
    public static final int PLAN_THREADS = 512;

    /** Threads of each block of the row copy. */
    public static final int COPY_THREADS = 256;

    /** Clock, forwards and sticky error of a pool. */
    public static final StructLayout PLAN_STATE = StructLayout.struct("PlanState")
            .i64("clock")
            .i32("forwards", "error", "errorLayer", "errorLane")
            .array("reserved", Integer.BYTES, 2)
            .bytes(32);

    /** What the host may change between steps. */
    public static final StructLayout PLAN_CONTROLS = StructLayout.struct("PlanControls")
            .i32("gate", "promoteLimit", "promoteInterval", "promoteMinMisses", "protectRecent")
            .array("reserved", Integer.BYTES, 3)
            .bytes(32);

    /** One entry of a copy list. */
    public static final StructLayout ROW_COPY =
            StructLayout.struct("RowCopy").i32("expert", "row").bytes(8);

    /** Result of a step. */
    public static final StructLayout STEP_OUTPUT = StructLayout.struct("StepOutput")
            .i32("promoted", "staged")
            .array("reserved", Integer.BYTES, 2)
            .array("copies", ROW_COPY.bytes(), MAX_LANES)
            .array("routes", Integer.BYTES, MAX_LANES)
            .array("safeIds", Integer.BYTES, MAX_LANES)
            .array("missRows", Integer.BYTES, MAX_LANES)
            .bytes(1296);

    /** Device addresses and sizes of the placement tables. */
    public static final StructLayout PLAN_TABLES = StructLayout.struct("PlanTables")
            .pointer("hotRow", "coldRow", "rowKey", "rowUse", "missCount", "state", "controls")
            .i32("layers", "experts", "poolRows", "rows")
            .bytes(72);

    /** Argument of the planner kernel. */
    public static final StructLayout PLAN_PARAMS = StructLayout.struct("PlanParams")
            .array("tables", PLAN_TABLES.bytes(), 1)
            .pointer("ids", "weights", "output", "stepMap")
            .i32("layer", "lanes")
            .bytes(112);

    /** One part of an expert row: bank address, stride, source offset, size; all bytes. */
    public static final StructLayout ROW_PART = StructLayout.struct("RowPart")
            .pointer("bank")
            .i64("bankStrideBytes", "sourceOffsetBytes", "bytes")
            .bytes(32);

    /** Argument of the row copy kernel. */
    public static final StructLayout ROW_COPY_PARAMS = StructLayout.struct("RowCopyParams")
            .pointer("plan", "sourceLayers")
            .i64("sourceRowBytes")
            .array("parts", ROW_PART.bytes(), MAX_ROW_PARTS)
            .i32("layer", "partCount")
            .bytes(160);

    private KernelLayouts() {}

    /** All structs of layout.h, in its order. */
    public static List<StructLayout> all() {
        return List.of(
                PLAN_STATE, PLAN_CONTROLS, ROW_COPY, STEP_OUTPUT, PLAN_TABLES, PLAN_PARAMS, ROW_PART, ROW_COPY_PARAMS);
    }
}
