package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.ROW_BASE;

import java.nio.ByteBuffer;
import org.expertpool.pool.bank.ExpertRowLayout;

/**
 * Dense expert rows as kernels address them, in device or in mapped host memory: row r begins at
 * {@code base + r * rowBytes}, in 64 bits.
 *
 * @param base device address of row 0
 * @param onHost whether reading them crosses the link
 */
public record RowView(long base, ExpertRowLayout layout, boolean onHost) {
    /** The same rows counted from another one on. */
    public RowView from(long row) {
        return new RowView(base + layout.rowOffset(row), layout, onHost);
    }

    /** Writes the four RowBase structs of a MoeParams, in order. */
    void describe(ByteBuffer params, int atByte) {
        long[] offsets = {layout.w13Offset(), layout.s13Offset(), layout.w2Offset(), layout.s2Offset()};
        for (int part = 0; part < offsets.length; part++) {
            describe(params, atByte + part * ROW_BASE.bytes(), offsets[part]);
        }
    }

    /** Writes the RowBase of the part that begins at a byte of each row. */
    void describe(ByteBuffer params, int atByte, long partOffset) {
        params.putLong(atByte + ROW_BASE.offset("base"), base + partOffset);
        params.putLong(atByte + ROW_BASE.offset("strideBytes"), layout.rowBytes());
    }
}
