package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.model.StandIn;

/** A read in every layer that stands in for another: memory of its own for each, read after what its digest depends on. */
final class StandInLayers implements AutoCloseable {
    /** Makes a layer's read of the memory at a device address. */
    @FunctionalInterface
    interface Maker {
        StandIn of(int layer, long address);
    }

    private final DeviceBuffer memory;
    private final List<StandIn> layers = new ArrayList<>();

    StandInLayers(DeviceModel model, long bytesPerLayer, Maker maker) {
        memory = new DeviceBuffer(model.context(), Math.multiplyExact(bytesPerLayer, model.layers()));
        memory.fill(0, memory.bytes(), (byte) 1, model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(maker.of(layer, memory.address() + layer * bytesPerLayer));
        }
    }

    /** In the place of dense weights, read after the output before. */
    static StandInLayers dense(DeviceModel model, CallMemory calls, long bytesPerLayer) {
        return new StandInLayers(
                model,
                bytesPerLayer,
                (layer, address) -> StandIn.dense(
                        model.context(),
                        address,
                        bytesPerLayer,
                        calls.out(),
                        calls.outputValuesPerToken(),
                        model.stream()));
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
