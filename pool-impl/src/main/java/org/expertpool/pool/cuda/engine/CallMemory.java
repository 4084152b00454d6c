package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.DeviceBuffer;

/**
 * Inputs and outputs of layer calls of one width at fixed device addresses, so that captured work can be replayed: ids and
 * weights {@code [calls, T, topK]}, activations {@code [slots, T, hidden]}, outputs {@code [calls, T, hidden]}.
 */
public final class CallMemory implements AutoCloseable {
    private static final int BF16_BYTES = 2;
    private static final int ALIGNMENT = 256;

    private final int tokens;
    private final int slots;
    private final int calls;
    private final int lanes;
    private final long outputBytes;
    private final DeviceBuffer memory;
    private final long weightsAt;
    private final long outAt;
    private final long activationsAt;

    /** Of calls that all have the same ids, weights and output. */
    public CallMemory(DeviceModel model, int tokens, int slots) {
        this(model, tokens, slots, 1);
    }

    /**
     * @param slots inputs to choose from: layer l reads slot {@code l % slots}
     * @param calls whose ids, weights and outputs there is room for: layer l has those of {@code l % calls}
     */
    CallMemory(DeviceModel model, int tokens, int slots, int calls) {
        this.tokens = tokens;
        this.slots = slots;
        this.calls = calls;
        lanes = model.shape().lanes(tokens);
        outputBytes = (long) BF16_BYTES * tokens * model.shape().row().hidden();
        weightsAt = aligned((long) Integer.BYTES * lanes * calls);
        outAt = 2 * weightsAt;
        activationsAt = outAt + aligned(outputBytes * calls);
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

    /** The only call's ids. */
    public long ids() {
        requireOneCall();
        return ids(0);
    }

    /** The only call's weights. */
    public long weights() {
        requireOneCall();
        return weights(0);
    }

    /** The only call's output. */
    public long out() {
        requireOneCall();
        return out(0);
    }

    long ids(int layer) {
        return memory.address() + (long) Integer.BYTES * lanes * (layer % calls);
    }

    long weights(int layer) {
        return memory.address() + weightsAt + (long) Float.BYTES * lanes * (layer % calls);
    }

    long out(int layer) {
        return memory.address() + outAt + outputBytes * (layer % calls);
    }

    public long activations(int layer) {
        return memory.address() + activationsAt(layer % slots);
    }

    /** The memory that holds it all, for copies. */
    DeviceBuffer memory() {
        return memory;
    }

    /** Of engines whose calls share what they read: they can't take calls that are routed before they come. */
    void requireOneCall() {
        if (calls > 1) {
            throw new BadInputException(
                    "reading is AHEAD, expected ALL or FIRST_TOKEN: this engine's calls all have the same"
                            + " ids, weights and output");
        }
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
