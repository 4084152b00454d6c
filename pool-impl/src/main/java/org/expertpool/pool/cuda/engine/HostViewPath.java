package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.expertpool.pool.cuda.CudaStream;

/**
 * The proposal's way: residents from the bank, the others straight from the host source's device view, then one sum. The
 * host learns nothing, so it may be captured in a graph. An expert's row crosses the link once for each of its blocks.
 */
public final class HostViewPath implements WidePath {
    private final DevicePartition partition;
    private final List<WideParts> layers = new ArrayList<>();

    /** @param calls the fixed addresses of each layer's call */
    public HostViewPath(PoolMemory pool, DeviceMoe moe, DevicePartition partition, IntFunction<WideCall> calls) {
        this.partition = partition;
        for (int layer = 0; layer < pool.source().layers(); layer++) {
            layers.add(new WideParts(
                    pool, moe, partition, layer, calls.apply(layer), pool.coldRows(layer), pool.hostRows(layer)));
        }
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        WideParts parts = layers.get(layer);
        partition.enqueue(layer, parts.call, stream);
        parts.hits.enqueueAlign(stream);
        parts.hits.enqueueGemms(stream);
        parts.others.enqueueGemms(stream);
        parts.hits.enqueueSum(stream);
    }

    @Override
    public void close() {
        layers.forEach(WideParts::close);
    }
}
