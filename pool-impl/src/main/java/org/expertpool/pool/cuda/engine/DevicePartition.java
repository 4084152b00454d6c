package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_OUTPUT;
import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_PARAMS;
import static org.expertpool.pool.cuda.layout.PartitionLayouts.PARTITION_THREADS;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * Cuts layer calls by residency on the device (pool-semantics 6): validated ids for all that follows, and for the host
 * the experts that the bank lacks. Calls must follow each other on the device.
 */
public final class DevicePartition implements AutoCloseable {
    private final MoeShape shape;
    private final int maxTokens;
    private final int ringSize;
    private final DeviceBuffer memory; // safeIds, ringRows
    private final long ringRowsAt;
    private final PinnedSlab output; // written by the kernel: nothing to copy back
    private final Kernel kernel;

    /**
     * @param ringSize rows of the ring that missing experts go through, in order and round about
     * @param describeTables writes the PlanTables struct of the pool
     */
    public DevicePartition(
            CudaContext context, MoeShape shape, int maxTokens, int ringSize, Consumer<ByteBuffer> describeTables) {
        this.shape = shape;
        this.maxTokens = maxTokens;
        this.ringSize = ringSize;
        ringRowsAt = (long) Integer.BYTES * shape.lanes(maxTokens);
        memory = new DeviceBuffer(context, ringRowsAt + (long) Integer.BYTES * shape.experts());
        output = new PinnedSlab(context, PARTITION_OUTPUT.bytes());
        kernel = context.kernel("smxx_partition", PARTITION_PARAMS.bytes());
        ByteBuffer params = kernel.argument().put(0, new byte[PARTITION_PARAMS.bytes()]);
        describeTables.accept(params.slice(PARTITION_PARAMS.offset("tables"), PARTITION_PARAMS.offset("ids"))
                .order(params.order()));
        params.putLong(PARTITION_PARAMS.offset("safeIds"), safeIds());
        params.putLong(PARTITION_PARAMS.offset("ringRows"), ringRows());
        params.putLong(PARTITION_PARAMS.offset("output"), output.deviceAddress());
        params.putInt(PARTITION_PARAMS.offset("ringSize"), ringSize);
    }

    /** Device address of i32 {@code [lanes]}: the expert of each valid lane of the last call, else -1. */
    public long safeIds() {
        return memory.address();
    }

    /** Device address of i32 {@code [experts]}: the ring row of each missing expert of the last call, else -1. */
    public long ringRows() {
        return memory.address() + ringRowsAt;
    }

    int ringSize() {
        return ringSize;
    }

    /** Enqueues the cut of one call. */
    public void enqueue(int layer, WideCall call, CudaStream stream) {
        if (call.tokens() > maxTokens) {
            throw new IllegalArgumentException("tokens is " + call.tokens() + ", expected at most " + maxTokens);
        }
        ByteBuffer params = kernel.argument();
        params.putLong(PARTITION_PARAMS.offset("ids"), call.ids());
        params.putLong(PARTITION_PARAMS.offset("weights"), call.weights());
        params.putInt(PARTITION_PARAMS.offset("layer"), layer);
        params.putInt(PARTITION_PARAMS.offset("lanes"), shape.lanes(call.tokens()));
        kernel.launch(1, PARTITION_THREADS, stream);
    }

    /** What the last call touched, once the device has been waited for. */
    public TouchedExperts touched() {
        ByteBuffer found = output.buffer();
        int missing = found.getInt(PARTITION_OUTPUT.offset("missing"));
        int touched = found.getInt(PARTITION_OUTPUT.offset("touched"));
        if (missing < 0 || touched < missing || touched > shape.experts()) {
            throw new IllegalStateException("partition: " + missing + " missing of " + touched + " touched experts, "
                    + shape.experts() + " in the layer");
        }
        return new TouchedExperts(
                touched,
                ints(PARTITION_OUTPUT.offset("experts"), missing),
                ints(PARTITION_OUTPUT.offset("laneCounts"), shape.experts()));
    }

    @Override
    public void close() {
        kernel.close();
        output.close();
        memory.close();
    }

    private int[] ints(int atByte, int count) {
        int[] values = new int[count];
        output.slice(atByte, Integer.BYTES * count).asIntBuffer().get(values);
        return values;
    }
}
