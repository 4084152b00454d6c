package org.expertpool.pool.cuda.engine;

import java.util.HashMap;
import java.util.Map;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.engine.MoeEngine;
import org.expertpool.pool.plan.Lanes;

/** Single layer calls of an engine on the device, waited for: the interface of the Java engines, for comparisons. */
public final class DeviceMoeEngine implements MoeEngine, AutoCloseable {
    private record Width(CallMemory memory, PinnedSlab host, LayerCalls calls) implements AutoCloseable {
        @Override
        public void close() {
            calls.close();
            host.close();
            memory.close();
        }
    }

    private final DeviceModel model;
    private final LayerEngine engine;
    private final Map<Integer, Width> widths = new HashMap<>(); // by tokens

    public DeviceMoeEngine(DeviceModel model, LayerEngine engine) {
        this.model = model;
        this.engine = engine;
    }

    @Override
    public short[] forward(int layer, short[] activations, int[] ids, float[] weights) {
        Width width = widths.computeIfAbsent(ids.length / model.shape().topK(), this::width);
        CallMemory memory = width.memory();
        if (activations.length * 2L != memory.outputBytes() || weights.length != ids.length) {
            throw new IllegalArgumentException(activations.length + " activations and " + weights.length
                    + " weights for " + ids.length + " lanes");
        }
        int[] safeIds = ids.clone();
        if (!engine.validates()) {
            Lanes.sanitise(ids, weights, ids.length, model.shape().experts(), safeIds);
        }
        put(width, activations, safeIds, weights);
        width.calls().enqueue(layer, model.stream());
        int out = Math.toIntExact(memory.outAt());
        memory.memory().download(memory.outAt(), width.host(), memory.outAt(), memory.outputBytes(), model.stream());
        model.stream().synchronise("layer " + layer + " of engine " + engine.name());
        short[] result = new short[activations.length];
        width.host().slice(out, (int) memory.outputBytes()).asShortBuffer().get(result);
        return result;
    }

    private void put(Width width, short[] activations, int[] ids, float[] weights) {
        CallMemory memory = width.memory();
        int outputBytes = Math.toIntExact(memory.outputBytes());
        width.host().slice(0, ids.length * Integer.BYTES).asIntBuffer().put(ids);
        width.host()
                .slice((int) memory.weightsAt(), ids.length * Float.BYTES)
                .asFloatBuffer()
                .put(weights);
        width.host()
                .slice((int) memory.activationsAt(0), outputBytes)
                .asShortBuffer()
                .put(activations);
        memory.memory().upload(0, width.host(), 0, width.host().bytes(), model.stream());
    }

    private Width width(int tokens) {
        try (CudaContext.Attempt all = model.context().attempt()) {
            CallMemory memory = new CallMemory(model, tokens, 1);
            Width width = new Width(
                    memory, new PinnedSlab(model.context(), memory.memory().bytes()), engine.bind(memory));
            all.succeeded();
            return width;
        }
    }

    @Override
    public void close() {
        widths.values().forEach(Width::close);
    }
}
