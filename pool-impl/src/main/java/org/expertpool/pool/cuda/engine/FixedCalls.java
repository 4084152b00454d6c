package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;

/** Calls of engines whose rows never move: expert e of a layer lies in row e of the layer's view. */
final class FixedCalls implements LayerCalls {
    private final DeviceMoe moe;
    private final DeviceBuffer identity; // i32 [E]
    private final List<MoeLaunch> layers = new ArrayList<>();

    FixedCalls(DeviceModel model, CallMemory memory, IntFunction<RowView> rows) {
        moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
        int experts = model.shape().experts();
        identity = DeviceBuffer.holding(
                model.context(),
                model.stream(),
                (long) Integer.BYTES * experts,
                host -> host.asIntBuffer().put(IntStream.range(0, experts).toArray()));
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(moe.bind(new MoeCall(
                    memory.tokens(),
                    memory.activations(layer),
                    memory.ids(layer),
                    memory.ids(layer),
                    identity.address(),
                    memory.weights(layer),
                    model.alphas().address(layer),
                    rows.apply(layer),
                    memory.out(layer))));
        }
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        layers.get(layer).enqueue(stream);
    }

    @Override
    public long plan(int layer) {
        return 0;
    }

    @Override
    public void close() {
        layers.forEach(MoeLaunch::close);
        identity.close();
        moe.close();
    }
}
