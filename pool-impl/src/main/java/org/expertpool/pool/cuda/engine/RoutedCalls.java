package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Routing of layer calls as the host reads it: ids and weights of each call as they lie in a {@link CallMemory}, validated
 * before they came there.
 */
final class RoutedCalls implements AutoCloseable {
    private final CallMemory memory;
    private final int experts;
    private final int weightsAt;
    private final int callBytes;
    private final PinnedSlab host; // [calls]
    private final RoutingEvent event;
    private final int[] seenAt; // [E] number of the event that last held the expert
    private int eventNumber;

    /** @param calls whose routing is held at a time */
    RoutedCalls(DeviceModel model, CallMemory memory, int calls) {
        memory.requireOneCall();
        this.memory = memory;
        experts = model.shape().experts();
        weightsAt = Math.toIntExact(memory.weightsAt());
        callBytes = weightsAt + Float.BYTES * memory.lanes();
        host = new PinnedSlab(model.context(), (long) callBytes * calls);
        event = new RoutingEvent(experts);
        seenAt = new int[experts];
    }

    /** Device memory for as many calls' routing, at fixed addresses. */
    DeviceBuffer record(DeviceModel model) {
        return new DeviceBuffer(model.context(), host.bytes());
    }

    /** Enqueues a copy of the current call's routing on the device; may be captured. */
    void keep(int call, DeviceBuffer record, CudaStream stream) {
        record.copy((long) callBytes * call, memory.memory(), 0, callBytes, stream);
    }

    /** Brings all calls of a record to the host, and waits. */
    void read(DeviceBuffer record, CudaStream stream) {
        record.download(0, host, 0, host.bytes(), stream);
        stream.synchronise("read back a forward's routing");
    }

    /** Brings the current call's routing to the host, and waits. */
    void read(CudaStream stream) {
        memory.memory().download(0, host, 0, callBytes, stream);
        stream.synchronise("read back a layer's routing");
    }

    /** Expert of a lane, or -1. */
    int id(int call, int lane) {
        return host.buffer().getInt(callBytes * call + Integer.BYTES * lane);
    }

    /** The experts of a call as policies see them; the same object each time. */
    RoutingEvent event(int call, int layer) {
        int number = ++eventNumber;
        event.layer = layer;
        event.size = 0;
        for (int lane = 0; lane < memory.lanes(); lane++) {
            int expert = id(call, lane);
            if (expert >= 0 && seenAt[expert] != number) {
                seenAt[expert] = number;
                event.experts[event.size] = expert;
                event.weights[event.size++] = host.buffer().getFloat(callBytes * call + weightsAt + Float.BYTES * lane);
            }
        }
        return event;
    }

    @Override
    public void close() {
        host.close();
    }
}
