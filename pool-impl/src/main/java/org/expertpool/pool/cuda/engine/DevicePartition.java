package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_OUTPUT;
import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_PARAMS;
import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_THREADS;

import java.nio.ByteBuffer;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * Cuts layer calls by residency on the device (pool-semantics 6): validated ids for all that follows, and for the host
 * the experts that the bank lacks. Calls must follow each other on the device.
 */
final class DevicePartition implements AutoCloseable {
    private final int experts;
    private final DeviceBuffer buffer; // safeIds, ringRows
    private final long ringRowsAt;
    private final PinnedSlab output; // written by the kernel: nothing to copy back
    private final Kernel kernel;

    /** @param ringSize rows of the ring that missing experts go through, in order and round about */
    DevicePartition(DevicePool pool, CallMemory memory, int ringSize) {
        CudaContext context = pool.model().context();
        experts = pool.config().experts();
        ringRowsAt = (long) Integer.BYTES * memory.lanes();
        buffer = new DeviceBuffer(context, ringRowsAt + (long) Integer.BYTES * experts);
        output = new PinnedSlab(context, PARTITION_OUTPUT.bytes());
        kernel = context.kernel("smxx_partition", PARTITION_PARAMS.bytes());
        ByteBuffer params = kernel.argument().put(0, new byte[PARTITION_PARAMS.bytes()]);
        pool.deviceTables()
                .describe(params.slice(PARTITION_PARAMS.offset("tables"), PARTITION_PARAMS.offset("ids"))
                        .order(params.order()));
        params.putLong(PARTITION_PARAMS.offset("ids"), memory.ids());
        params.putLong(PARTITION_PARAMS.offset("weights"), memory.weights());
        params.putLong(PARTITION_PARAMS.offset("safeIds"), safeIds());
        params.putLong(PARTITION_PARAMS.offset("ringRows"), ringRows());
        params.putLong(PARTITION_PARAMS.offset("output"), output.deviceAddress());
        params.putInt(PARTITION_PARAMS.offset("lanes"), memory.lanes());
        params.putInt(PARTITION_PARAMS.offset("ringSize"), ringSize);
    }

    /** Device address of i32 {@code [lanes]}: the expert of each valid lane of the last call, else -1. */
    long safeIds() {
        return buffer.address();
    }

    /** Device address of i32 {@code [experts]}: the ring row of each missing expert of the last call, else -1. */
    long ringRows() {
        return buffer.address() + ringRowsAt;
    }

    /** Enqueues the cut of a layer's call. */
    void enqueue(int layer, CudaStream stream) {
        kernel.argument().putInt(PARTITION_PARAMS.offset("layer"), layer);
        kernel.launch(1, PARTITION_THREADS, stream);
    }

    /** What the last call touched, once the device has been waited for. */
    TouchedExperts touched() {
        ByteBuffer found = output.buffer();
        int missing = found.getInt(PARTITION_OUTPUT.offset("missing"));
        int touched = found.getInt(PARTITION_OUTPUT.offset("touched"));
        if (missing < 0 || touched < missing || touched > experts) {
            throw new IllegalStateException("partition: " + missing + " missing of " + touched + " touched experts, "
                    + experts + " in the layer");
        }
        return new TouchedExperts(
                touched,
                ints(PARTITION_OUTPUT.offset("experts"), missing),
                ints(PARTITION_OUTPUT.offset("laneCounts"), experts));
    }

    @Override
    public void close() {
        kernel.close();
        output.close();
        buffer.close();
    }

    private int[] ints(int atByte, int count) {
        int[] values = new int[count];
        output.slice(atByte, Integer.BYTES * count).asIntBuffer().get(values);
        return values;
    }
}
