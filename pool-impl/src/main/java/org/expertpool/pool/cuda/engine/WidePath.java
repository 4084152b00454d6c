package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaStream;

/** A way to run calls wider than the planner (pool-semantics 6). The placement stays; all ways give the same bits. */
public interface WidePath extends AutoCloseable {
    /** Enqueues the call of one layer, at the addresses fixed for it. */
    void enqueue(int layer, CudaStream stream);

    @Override
    void close();
}
