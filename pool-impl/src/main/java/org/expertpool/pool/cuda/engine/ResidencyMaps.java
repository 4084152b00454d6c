package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.plan.PoolTables;

/**
 * For every layer the bank row of each expert and its host row, each -1 where the other holds: i32 {@code [layers, 2,
 * experts]} at a fixed device address, written by the host. At first all experts are on the host.
 */
final class ResidencyMaps implements AutoCloseable {
    private final int experts;
    private final int[] rows; // [L, 2, E]
    private final DeviceBuffer device;
    private final PinnedSlab host;
    private final CudaEvent uploaded;
    private boolean changed = true;

    ResidencyMaps(DeviceModel model) {
        experts = model.shape().experts();
        rows = new int[model.layers() * 2 * experts];
        device = new DeviceBuffer(model.context(), (long) Integer.BYTES * rows.length);
        host = new PinnedSlab(model.context(), device.bytes());
        uploaded = CudaEvent.withoutTime(model.context());
        for (int layer = 0; layer < model.layers(); layer++) {
            for (int expert = 0; expert < experts; expert++) {
                put(layer, expert, PoolTables.ABSENT);
            }
        }
    }

    /** @param row in the bank, or -1 */
    void put(int layer, int expert, int row) {
        int at = layer * 2 * experts + expert;
        rows[at] = row;
        rows[at + experts] = row == PoolTables.ABSENT ? expert : PoolTables.ABSENT;
        changed = true;
    }

    boolean isInBank(int layer, int expert) {
        return rows[layer * 2 * experts + expert] != PoolTables.ABSENT;
    }

    /** Enqueues what has changed. */
    void upload(CudaStream stream) {
        if (!changed) {
            return;
        }
        uploaded.await("upload where experts are"); // the copy before reads the same memory
        host.buffer().clear().asIntBuffer().put(rows);
        device.upload(0, host, 0, device.bytes(), stream);
        uploaded.record(stream);
        changed = false;
    }

    /** Device address of i32 {@code [experts]}: a layer's bank rows. */
    long inBank(int layer) {
        return device.address() + (long) Integer.BYTES * 2 * experts * layer;
    }

    /** Device address of i32 {@code [experts]}: a layer's host rows. */
    long onHost(int layer) {
        return inBank(layer) + (long) Integer.BYTES * experts;
    }

    @Override
    public void close() {
        uploaded.close();
        host.close();
        device.close();
    }
}
