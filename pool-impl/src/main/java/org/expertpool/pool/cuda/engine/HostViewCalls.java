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
                pool,
                memory,
                partition,
                layer -> new WideParts.Elsewhere(pool.model().hostRows(layer), pool.coldRows(layer)));
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        WideParts.Layer calls = parts.layer(layer);
        partition.enqueue(layer, stream);
        calls.hits().enqueueAlign(stream);
        calls.hits().enqueueGemms(stream);
        calls.others().enqueueGemms(stream);
        calls.hits().enqueueSum(stream);
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
