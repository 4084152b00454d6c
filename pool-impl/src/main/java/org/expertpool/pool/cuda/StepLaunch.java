package org.expertpool.pool.cuda;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_PARAMS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_THREADS;

import java.nio.ByteBuffer;

/** The planner kernel over a pool's tables, prepared: a launch is a step (pool-semantics 4). */
public final class StepLaunch implements AutoCloseable {
    private final Kernel kernel;

    /**
     * @param output device address of the step's StepOutput
     * @param stepMap device address of i32 {@code [experts]}: the layer's rows with staged experts overlaid
     */
    public StepLaunch(CudaContext context, DeviceTables tables, long output, long stepMap) {
        kernel = context.kernel("smxx_lru_plan", PLAN_PARAMS.bytes());
        ByteBuffer params = kernel.argument();
        tables.describe(params.slice(PLAN_PARAMS.offset("tables"), PLAN_PARAMS.offset("ids"))
                .order(params.order()));
        params.putLong(PLAN_PARAMS.offset("output"), output);
        params.putLong(PLAN_PARAMS.offset("stepMap"), stepMap);
    }

    /**
     * Enqueues a step.
     *
     * @param ids device address of i32 {@code [lanes]}, raw
     * @param weights device address of f32 {@code [lanes]}
     */
    public void enqueue(int layer, int lanes, long ids, long weights, CudaStream stream) {
        kernel.argument()
                .putLong(PLAN_PARAMS.offset("ids"), ids)
                .putLong(PLAN_PARAMS.offset("weights"), weights)
                .putInt(PLAN_PARAMS.offset("layer"), layer)
                .putInt(PLAN_PARAMS.offset("lanes"), lanes);
        kernel.launch(1, PLAN_THREADS, stream);
    }

    @Override
    public void close() {
        kernel.close();
    }
}
