package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.PinnedSource;

/** Expert rows in device memory: one allocation of dense rows, so that a row copy is one run of bytes. */
public final class DeviceBank implements AutoCloseable {
    private final ExpertRowLayout layout;
    private final int rows;
    private final DeviceBuffer memory;

    /** @param rows R, at least 1 */
    public DeviceBank(CudaContext context, ExpertRowLayout layout, int rows) {
        this.layout = layout;
        this.rows = rows;
        memory = new DeviceBuffer(context, layout.rowOffset(rows));
    }

    public int rows() {
        return rows;
    }

    public long bytes() {
        return memory.bytes();
    }

    public RowView view() {
        return new RowView(memory.address(), layout, false);
    }

    /** Enqueues one copy of consecutive experts of a layer into consecutive rows. */
    public void copyIn(int row, PinnedSource source, int layer, int expert, int count, CudaStream stream) {
        memory.upload(
                layout.rowOffset(row), source.slab(layer), layout.rowOffset(expert), layout.rowOffset(count), stream);
    }

    /** Enqueues a copy of consecutive rows of another bank into rows of this. */
    public void copyRows(int row, DeviceBank from, int fromRow, int count, CudaStream stream) {
        memory.copy(layout.rowOffset(row), from.memory, layout.rowOffset(fromRow), layout.rowOffset(count), stream);
    }

    /** Enqueues a copy of one row to the start of {@code to}. */
    public void copyOut(int row, PinnedSlab to, CudaStream stream) {
        memory.download(layout.rowOffset(row), to, 0, layout.rowBytes(), stream);
    }

    /** Enqueues setting every byte of every row. */
    public void fill(byte value, CudaStream stream) {
        memory.fill(0, memory.bytes(), value, stream);
    }

    @Override
    public void close() {
        memory.close();
    }
}
