package org.expertpool.pool.cuda;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_PARAMS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_THREADS;

/** The planner kernel over a pool's tables, prepared: a launch is a step (pool-semantics 4). */
public final class StepLaunch implements AutoCloseable {
    private final Kernel kernel;

    public StepLaunch(CudaContext context, StepMemory memory) {
        kernel = context.kernel("smxx_lru_plan", PLAN_PARAMS.bytes());
        memory.describe(kernel.argument());
    }

    /**
     * Enqueues a step.
     *
     * @param ids device address of i32 {@code [lanes]}, raw
     * @param weights device address of f32 {@code [lanes]}
     */
    public void enqueue(int layer, int lanes, long ids, long weights, CudaStream stream) {
        StepMemory.describeLanes(kernel.argument(), layer, lanes, ids, weights);
        kernel.launch(1, PLAN_THREADS, stream);
    }

    @Override
    public void close() {
        kernel.close();
    }
}
