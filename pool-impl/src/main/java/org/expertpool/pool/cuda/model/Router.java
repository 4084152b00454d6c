package org.expertpool.pool.cuda.model;

import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_EXPERTS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_LANES;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_PARAMS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_THREADS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_TOKENS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.ROUTER_WARPS;

import java.nio.ByteBuffer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;

/**
 * A layer's router on the device, prepared: logits in fp32, softmax, the most probable experts first, ties to the lower id,
 * weights that sum to 1. One order of sums for every call.
 */
public final class Router implements AutoCloseable {
    private static final int VECTOR = 8;
    private static final int MAX_HIDDEN = 65536;
    private static final int MAX_TOKENS = 8192;

    private final Kernel kernel;
    private final DeviceBuffer scratch; // logits f32 [tokens, experts], then arrivals u32
    private final int blocks;

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
            long weights,
            CudaStream stream) {
        require("tokens", tokens, tokens >= 1 && tokens <= MAX_TOKENS, "1 to " + MAX_TOKENS);
        require(
                "hidden",
                hidden,
                hidden >= VECTOR && hidden % VECTOR == 0 && hidden <= MAX_HIDDEN,
                "a multiple of 8 up to " + MAX_HIDDEN);
        require("experts", experts, experts >= 1 && experts <= MAX_EXPERTS, "1 to " + MAX_EXPERTS);
        int most = Math.min(experts, MAX_LANES);
        require("topK", topK, topK >= 1 && topK <= most, "1 to " + most);
        int groups = (tokens + ROUTER_TOKENS - 1) / ROUTER_TOKENS;
        blocks = (experts + ROUTER_WARPS - 1) / ROUTER_WARPS * groups;
        long logitsBytes = (long) Float.BYTES * tokens * experts;
        scratch = new DeviceBuffer(context, logitsBytes + (long) Integer.BYTES * groups);
        scratch.fill(0, scratch.bytes(), (byte) 0, stream);
        kernel = context.kernel("smxx_router", ROUTER_PARAMS.bytes());
        ByteBuffer argument = kernel.argument();
        argument.putLong(ROUTER_PARAMS.offset("activations"), activations);
        argument.putLong(ROUTER_PARAMS.offset("matrix"), matrix);
        argument.putLong(ROUTER_PARAMS.offset("logits"), scratch.address());
        argument.putLong(ROUTER_PARAMS.offset("ids"), ids);
        argument.putLong(ROUTER_PARAMS.offset("weights"), weights);
        argument.putLong(ROUTER_PARAMS.offset("arrivals"), scratch.address() + logitsBytes);
        argument.putInt(ROUTER_PARAMS.offset("tokens"), tokens);
        argument.putInt(ROUTER_PARAMS.offset("hidden"), hidden);
        argument.putInt(ROUTER_PARAMS.offset("experts"), experts);
        argument.putInt(ROUTER_PARAMS.offset("topK"), topK);
    }

    public void enqueue(CudaStream stream) {
        kernel.launch(blocks, ROUTER_THREADS, stream);
    }

    private static void require(String field, int value, boolean holds, String expected) {
        if (!holds) {
            throw new BadInputException("router: " + field + " is " + value + ", expected " + expected);
        }
    }

    @Override
    public void close() {
        kernel.close();
        scratch.close();
    }
}
