package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.model.StandIn;

/** What stands in for the dense weights of every layer: memory of its own for each, read after the output before. */
final class DenseWork implements AutoCloseable {
    private static final int BF16_BYTES = 2;

    private final DeviceBuffer memory;
    private final List<StandIn> layers = new ArrayList<>();

    DenseWork(DeviceModel model, CallMemory calls, long bytesPerLayer) {
        memory = new DeviceBuffer(model.context(), Math.multiplyExact(bytesPerLayer, model.layers()));
        memory.fill(0, memory.bytes(), (byte) 1, model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(StandIn.dense(
                    model.context(),
                    memory.address() + layer * bytesPerLayer,
                    bytesPerLayer,
                    calls.out(),
                    Math.toIntExact(calls.outputBytes() / BF16_BYTES / calls.tokens()),
                    model.stream()));
        }
    }

    void enqueue(int layer, CudaStream stream) {
        layers.get(layer).enqueue(stream);
    }

    /** Device address of a u64 that depends on all that the layer's call read. */
    long digest(int layer) {
        return layers.get(layer).digest();
    }

    @Override
    public void close() {
        layers.forEach(StandIn::close);
        memory.close();
    }
}
