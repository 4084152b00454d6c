package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaStream;

/** One engine's layer calls of one width, prepared. */
public interface LayerCalls extends AutoCloseable {
    /** Enqueues a layer's call: memory's ids, weights and activations in, its output out. */
    void enqueue(int layer, CudaStream stream);

    /** Called behind each whole forward, warm-up aside; outside any graph. May wait for the device, or enqueue. */
    default void endForward(CudaStream stream) {}

    /** Device address of the layer's StepOutput once its call has run, layers side by side; 0 where the engine plans nothing. */
    long plan(int layer);

    @Override
    void close();
}
