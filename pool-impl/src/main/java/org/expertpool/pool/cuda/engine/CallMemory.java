package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.DeviceBuffer;

/**
 * Inputs and output of layer calls of one width at fixed device addresses, so that captured work can be replayed: ids and
 * weights {@code [T, topK]}, activations {@code [slots, T, hidden]}, output {@code [T, hidden]}.
 */
public final class CallMemory implements AutoCloseable {
    private static final int BF16_BYTES = 2;
    private static final int ALIGNMENT = 256;

    private final int tokens;
    private final int slots;
    private final int lanes;
    private final long outputBytes;
    private final DeviceBuffer memory;
    private final long weightsAt;
    private final long outAt;
    private final long activationsAt;

    /** @param slots inputs to choose from: layer l reads slot {@code l % slots} */
    public CallMemory(DeviceModel model, int tokens, int slots) {
        this.tokens = tokens;
        this.slots = slots;
        lanes = model.shape().lanes(tokens);
        outputBytes = (long) BF16_BYTES * tokens * model.shape().row().hidden();
        weightsAt = aligned((long) Integer.BYTES * lanes);
        outAt = 2 * weightsAt;
        activationsAt = outAt + aligned(outputBytes);
        memory = new DeviceBuffer(model.context(), activationsAt + slots * outputBytes);
        memory.fill(0, memory.bytes(), (byte) 0, model.stream());
    }

    public int tokens() {
        return tokens;
    }

    public int lanes() {
        return lanes;
    }

    public int slots() {
        return slots;
    }

    /** Bytes of the output, and of one slot of activations. */
    public long outputBytes() {
        return outputBytes;
    }

    int outputValuesPerToken() {
        return (int) (outputBytes / BF16_BYTES / tokens);
    }

    public long ids() {
        return memory.address();
    }

    public long weights() {
        return memory.address() + weightsAt;
    }

    public long out() {
        return memory.address() + outAt;
    }

    public long activations(int layer) {
        return memory.address() + activationsAt(layer % slots);
    }

    /** The memory that holds it all, for copies. */
    DeviceBuffer memory() {
        return memory;
    }

    long weightsAt() {
        return weightsAt;
    }

    long outAt() {
        return outAt;
    }

    long activationsAt(int slot) {
        return activationsAt + slot * outputBytes;
    }

    @Override
    public void close() {
        memory.close();
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
