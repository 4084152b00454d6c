package org.expertpool.pool.cuda.layout;

import java.util.List;

/** Every struct of {@code kernels-cu/include/pool/convert.h}, and the numbers that a launch needs. */
public final class ConvertLayouts {
    /** Threads of a block. */
    public static final int CONVERT_THREADS = 256;

    /** Gate, up, down. */
    public static final int PROJECTIONS = 3;

    /** E4M3 values without their sign. */
    public static final int SCALE_VALUES = 128;

    /** The scales of one projection of one expert. */
    public static final StructLayout SCALE_COUNTS = StructLayout.struct("ScaleCounts")
            .i64("firstBad")
            .array("counts", Integer.BYTES, SCALE_VALUES)
            .bytes(520);

    /** Argument of the kernels. */
    public static final StructLayout CONVERT_PARAMS = StructLayout.struct("ConvertParams")
            .pointer("plain", "rows", "counts", "codes")
            .i32("experts", "hidden", "width", "reserved")
            .bytes(48);

    private ConvertLayouts() {}

    /** All structs, in the order of the header. */
    public static List<StructLayout> all() {
        return List.of(SCALE_COUNTS, CONVERT_PARAMS);
    }
}
