package org.expertpool.pool.cuda.model;

import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_EXPERTS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_LANES;
import static org.expertpool.pool.cuda.layout.ModelLayouts.CHOOSE_THREADS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_PARAMS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_TOKENS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_WARPS;

import java.nio.ByteBuffer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.KernelArgument;

/**
 * A layer's router on the device, prepared: logits in fp32, softmax, the most probable experts first, ties to the lower id,
 * weights that sum to 1. One order of sums for every call.
 */
public final class Router implements AutoCloseable {
    private static final int VECTOR = 8;
    private static final int MAX_HIDDEN = 65536;
    private static final int MAX_TOKENS = 8192;

    private static final int WARP = 32;

    private final KernelArgument argument;
    private final Kernel logits;
    private final Kernel choose;
    private final DeviceBuffer scratch; // logits f32 [tokens, experts]
    private final int logitsBlocks;
    private final int tokens;

    /**
     * Prepares a call with fixed addresses.
     *
     * @param activations bf16 {@code [tokens, hidden]}, on 16 bytes
     * @param matrix bf16 {@code [experts, hidden]}, on 16 bytes
     * @param ids i32 {@code [tokens, topK]}, written
     * @param weights f32 {@code [tokens, topK]}, written
     */
    public Router(
            CudaContext context,
            int tokens,
            int hidden,
            int experts,
            int topK,
            long activations,
            long matrix,
            long ids,
            long weights) {
        require("tokens", tokens, tokens >= 1 && tokens <= MAX_TOKENS, "1 to " + MAX_TOKENS);
        require(
                "hidden",
                hidden,
                hidden >= VECTOR && hidden % VECTOR == 0 && hidden <= MAX_HIDDEN,
                "a multiple of 8 up to " + MAX_HIDDEN);
        require("experts", experts, experts >= 1 && experts <= MAX_EXPERTS, "1 to " + MAX_EXPERTS);
        int most = Math.min(experts, MAX_LANES);
        require("topK", topK, topK >= 1 && topK <= most, "1 to " + most);
        this.tokens = tokens;
        logitsBlocks = (experts + ROUTER_WARPS - 1) / ROUTER_WARPS * ((tokens + ROUTER_TOKENS - 1) / ROUTER_TOKENS);
        scratch = new DeviceBuffer(context, (long) Float.BYTES * tokens * experts);
        argument = new KernelArgument(context, ROUTER_PARAMS);
        logits = context.kernel("smxx_router_logits", argument);
        choose = context.kernel("smxx_router_choose", argument);
        ByteBuffer struct = argument.struct();
        struct.putLong(ROUTER_PARAMS.offset("activations"), activations);
        struct.putLong(ROUTER_PARAMS.offset("matrix"), matrix);
        struct.putLong(ROUTER_PARAMS.offset("logits"), scratch.address());
        struct.putLong(ROUTER_PARAMS.offset("ids"), ids);
        struct.putLong(ROUTER_PARAMS.offset("weights"), weights);
        struct.putInt(ROUTER_PARAMS.offset("tokens"), tokens);
        struct.putInt(ROUTER_PARAMS.offset("hidden"), hidden);
        struct.putInt(ROUTER_PARAMS.offset("experts"), experts);
        struct.putInt(ROUTER_PARAMS.offset("topK"), topK);
    }

    public void enqueue(CudaStream stream) {
        logits.launch(logitsBlocks, ROUTER_WARPS * WARP, stream);
        choose.launch(tokens, CHOOSE_THREADS, stream);
    }

    private static void require(String field, int value, boolean holds, String expected) {
        if (!holds) {
            throw new BadInputException("router: " + field + " is " + value + ", expected " + expected);
        }
    }

    @Override
    public void close() {
        argument.close();
        scratch.close();
    }
}
