package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_PARAMS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MOE_PARAMS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.POOL_TOKEN_PARAMS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TOKEN;

import java.nio.ByteBuffer;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.KernelArgument;
import org.expertpool.pool.cuda.StepMemory;
import org.expertpool.pool.cuda.layout.TokenGrid;

/** A pool's call of one token in one kernel, with its arguments prepared: the planner's step and the MoE beside it. */
final class PoolTokenLaunch implements AutoCloseable {
    private static final int PLANNER_BLOCKS = 1;

    private final DeviceMoe moe;
    private final TokenGrid grid; // beside the planner's block
    private final KernelArgument argument;
    private final Kernel kernel;

    /**
     * @param call of one token, with its rows on the host; its ids, rows and missed rows are the step's own
     * @param ids device address of i32 {@code [topK]}, raw
     */
    PoolTokenLaunch(CudaContext context, DeviceMoe moe, MoeCall call, StepMemory step, int layer, long ids) {
        this.moe = moe;
        grid = moe.poolGrid;
        argument = new KernelArgument(context, POOL_TOKEN_PARAMS);
        ByteBuffer plan = part("plan", PLAN_PARAMS.bytes());
        step.describe(plan);
        StepMemory.describeLanes(plan, layer, moe.shape().topK(), ids, call.weights());
        MoeLaunch.describe(part("moe", MOE_PARAMS.bytes()), moe, call, MoeWay.ONE_TOKEN, 0);
        kernel = context.kernel("smxx_pool_token" + moe.shape().kernelSuffix(), argument);
        kernel.allowSharedBytes(grid.sharedBytes());
    }

    /** Blocks of such a launch that compute, on a device with so many multiprocessors. */
    static int blocks(int multiprocessors) {
        return multiprocessors - PLANNER_BLOCKS;
    }

    void enqueue(CudaStream stream) {
        moe.requireStream(stream);
        kernel.launchTogether(grid.blocks() + PLANNER_BLOCKS, TOKEN.threads(), grid.sharedBytes(), stream);
    }

    @Override
    public void close() {
        argument.close();
    }

    private ByteBuffer part(String name, int bytes) {
        ByteBuffer struct = argument.struct();
        return struct.slice(POOL_TOKEN_PARAMS.offset(name), bytes).order(struct.order());
    }
}
