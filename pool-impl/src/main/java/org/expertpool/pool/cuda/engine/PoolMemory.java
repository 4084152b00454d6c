package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_TABLES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.expertpool.pool.cuda.DeviceTables;
import org.expertpool.pool.cuda.PinnedSource;

/** Where a pool's rows, placement and factors lie. */
public record PoolMemory(PinnedSource source, DeviceBank bank, AlphaTable alphas, DeviceTables tables) {
    /** Device address of i32 {@code [experts]}: a layer's bank rows, -1 where not resident. */
    long hotRows(int layer) {
        return table("hotRow", layer);
    }

    /** Device address of i32 {@code [experts]}: a layer's host rows, -1 where resident. */
    long coldRows(int layer) {
        return table("coldRow", layer);
    }

    /** Rows of a layer in the host source, as kernels read them. */
    RowView hostRows(int layer) {
        return new RowView(source.deviceRow(layer), source.layout());
    }

    private long table(String name, int layer) {
        ByteBuffer struct = ByteBuffer.allocate(PLAN_TABLES.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        tables.describe(struct);
        return struct.getLong(PLAN_TABLES.offset(name)) + (long) layer * source.experts() * Integer.BYTES;
    }
}
