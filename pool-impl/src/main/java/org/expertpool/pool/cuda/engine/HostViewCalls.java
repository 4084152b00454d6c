package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaStream;

/**
 * The proposal's way: residents from the bank, the others straight from the host source's device view, then one sum. The
 * host learns nothing, so it may be captured in a graph. A row crosses the link once for each block of its lanes.
 */
final class HostViewCalls implements LayerCalls {
    private final DevicePartition partition;
    private final WideParts parts;

    HostViewCalls(DevicePool pool, CallMemory memory) {
        int noRing = 1; // rows of a ring that nothing goes through
        partition = new DevicePartition(pool, memory, noRing);
        parts = new WideParts(
                pool.model(),
                memory,
                partition.safeIds(),
                pool::residents,
                layer -> new WideParts.Rows(pool.model().hostRows(layer), pool.coldRows(layer)));
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        partition.enqueue(layer, stream);
        parts.layer(layer).enqueue(stream);
    }

    @Override
    public long plan(int layer) {
        return 0;
    }

    @Override
    public void close() {
        parts.close();
        partition.close();
    }
}
