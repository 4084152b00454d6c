package org.expertpool.pool.bank;

import org.expertpool.pool.BadInputException;

/**
 * Where the four parts of one expert row lie (marlin-nvfp4 1.5). The same for checkpoint form and Marlin form, as the
 * repack keeps every size.
 *
 * <pre>
 * 0          w13: gate and up weights, 4 bits each   I*H     bytes   Marlin int32 [H/16, 4I]
 * s13Offset  s13: their block scale codes            I*H/8   bytes   u8 [H/16, 2I]
 * w2Offset   w2:  down weights, 4 bits each          I*H/2   bytes   Marlin int32 [I/16, 2H]
 * s2Offset   s2:  their block scale codes            I*H/16  bytes   u8 [I/16, H]
 * rowBytes
 * </pre>
 *
 * The three global scale factors are not in the row: a resident table holds them by key.
 *
 * @param hidden hidden size H, a multiple of 64, at most 2^20
 * @param expertWidth intermediate size I, a multiple of 64, at most 2^20
 */
public record ExpertRowLayout(int hidden, int expertWidth) {
    /** What row copies and the GEMM's loads need every part and every row to be aligned to, in bytes. */
    public static final int ALIGNMENT_BYTES = 16;

    private static final int TILE = 64;
    private static final int MAX = 1 << 20;

    public ExpertRowLayout {
        requireTiles("hidden", hidden);
        requireTiles("expertWidth", expertWidth);
    }

    /** Bytes of the gate and up weights; this part begins the row. */
    public long w13Bytes() {
        return (long) hidden * expertWidth;
    }

    /** Bytes of the gate and up block scales. */
    public long s13Bytes() {
        return w13Bytes() / 8;
    }

    /** Bytes of the down weights. */
    public long w2Bytes() {
        return w13Bytes() / 2;
    }

    /** Bytes of the down block scales. */
    public long s2Bytes() {
        return w13Bytes() / 16;
    }

    public long w13Offset() {
        return 0;
    }

    public long s13Offset() {
        return w13Bytes();
    }

    public long w2Offset() {
        return s13Offset() + s13Bytes();
    }

    public long s2Offset() {
        return w2Offset() + w2Bytes();
    }

    /** Bytes of a whole row. */
    public long rowBytes() {
        return s2Offset() + s2Bytes();
    }

    /** Byte offset of a row in a dense bank of such rows; 64-bit, as banks pass 2^31 bytes after some hundred rows. */
    public long rowOffset(long row) {
        return Math.multiplyExact(row, rowBytes());
    }

    private static void requireTiles(String field, int value) {
        if (value < TILE || value > MAX || value % TILE != 0) {
            throw new BadInputException("expert row: " + field + " is " + value + ", expected a multiple of " + TILE
                    + " from " + TILE + " to " + MAX + " (the Marlin repack works on 64 columns at a time)");
        }
    }
}
