package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.model.Router;

/**
 * The router of every layer over the layer's inputs, for its time alone: what it chooses, nobody reads. It takes the bits of
 * fp16 inputs for bf16, which costs the same.
 */
final class RouterWork implements AutoCloseable {
    private static final int BF16_BYTES = 2;
    private static final byte SMALL = 0x3C; // as bf16, 0x3C3C: 0.0115

    private final DeviceBuffer matrices; // bf16 [layers, experts, hidden]
    private final DeviceBuffer chosen; // ids i32, then weights f32, [lanes] each
    private final List<Router> layers = new ArrayList<>();

    RouterWork(DeviceModel model, CallMemory calls) {
        int hidden = model.shape().row().hidden();
        int experts = model.shape().experts();
        long layerBytes = (long) BF16_BYTES * experts * hidden;
        matrices = new DeviceBuffer(model.context(), layerBytes * model.layers());
        matrices.fill(0, matrices.bytes(), SMALL, model.stream());
        long half = (long) Integer.BYTES * calls.lanes();
        chosen = new DeviceBuffer(model.context(), 2 * half);
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(new Router(
                    model.context(),
                    calls.tokens(),
                    hidden,
                    experts,
                    model.shape().topK(),
                    calls.activations(layer),
                    matrices.address() + layer * layerBytes,
                    chosen.address(),
                    chosen.address() + half));
        }
    }

    void enqueue(int layer, CudaStream stream) {
        layers.get(layer).enqueue(stream);
    }

    @Override
    public void close() {
        layers.forEach(Router::close);
        chosen.close();
        matrices.close();
    }
}
