package org.expertpool.pool.cuda.model;

import static org.expertpool.pool.cuda.layout.ModelLayouts.STAND_IN_BLOCKS_PER_PROCESSOR;
import static org.expertpool.pool.cuda.layout.ModelLayouts.STAND_IN_PARAMS;
import static org.expertpool.pool.cuda.layout.ModelLayouts.STAND_IN_STATE;
import static org.expertpool.pool.cuda.layout.ModelLayouts.STAND_IN_THREADS;

import java.nio.ByteBuffer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * One call that reads device memory for real in the place of a model's dense weights or its KV cache, prepared. Its digest
 * depends on every byte read and on the layer's output, so that what reads the digest depends by data on both.
 */
public final class StandIn implements AutoCloseable {
    private static final int VECTOR_BYTES = 16;

    private final Kernel kernel;
    private final DeviceBuffer state;
    private final int blocks;

    private StandIn(CudaContext context, String name, CudaStream stream) {
        kernel = context.kernel(name, STAND_IN_PARAMS.bytes());
        kernel.argument().put(0, new byte[STAND_IN_PARAMS.bytes()]);
        state = new DeviceBuffer(context, STAND_IN_STATE.bytes());
        state.fill(0, state.bytes(), (byte) 0, stream);
        blocks = STAND_IN_BLOCKS_PER_PROCESSOR * context.device().multiprocessors();
    }

    /**
     * Reads so many bytes in each call.
     *
     * @param memory device address, on 16 bytes
     * @param bytes a multiple of 16
     * @param after device address of the output of the layer before, bf16
     * @param afterCount its values
     */
    public static StandIn dense(
            CudaContext context, long memory, long bytes, long after, int afterCount, CudaStream stream) {
        require("bytes", bytes);
        return new StandIn(context, "smxx_dense_stand_in", stream)
                .reads(memory, bytes, 0)
                .after(after, afterCount);
    }

    /**
     * Reads so many bytes for each token of a context whose length lies in device memory, so that a captured call follows
     * it.
     *
     * @param memory device address of {@code maxTokens * bytesPerToken} bytes, on 16 bytes
     * @param bytesPerToken a multiple of 16
     * @param tokens device address of the context's length, i64; cut to {@code [0, maxTokens]}
     */
    public static StandIn keyValues(
            CudaContext context,
            long memory,
            long bytesPerToken,
            long tokens,
            long maxTokens,
            long after,
            int afterCount,
            CudaStream stream) {
        require("bytesPerToken", bytesPerToken);
        StandIn made = new StandIn(context, "smxx_kv_stand_in", stream)
                .reads(memory, 0, bytesPerToken)
                .after(after, afterCount);
        made.kernel
                .argument()
                .putLong(STAND_IN_PARAMS.offset("units"), tokens)
                .putLong(STAND_IN_PARAMS.offset("maxUnits"), maxTokens);
        return made;
    }

    private StandIn reads(long memory, long bytes, long bytesPerUnit) {
        ByteBuffer argument = kernel.argument();
        argument.putLong(STAND_IN_PARAMS.offset("memory"), memory);
        argument.putLong(STAND_IN_PARAMS.offset("bytes"), bytes);
        argument.putLong(STAND_IN_PARAMS.offset("bytesPerUnit"), bytesPerUnit);
        argument.putLong(STAND_IN_PARAMS.offset("state"), state.address());
        return this;
    }

    private StandIn after(long address, int count) {
        kernel.argument().putLong(STAND_IN_PARAMS.offset("after"), address);
        kernel.argument().putInt(STAND_IN_PARAMS.offset("afterCount"), count);
        return this;
    }

    public void enqueue(CudaStream stream) {
        kernel.launch(blocks, STAND_IN_THREADS, stream);
    }

    /** Device address of the last call's digest, u64. */
    public long digest() {
        return state.address() + STAND_IN_STATE.offset("digest");
    }

    /** Enqueues a copy of the last call's digest to the start of {@code to}. */
    public void readDigest(PinnedSlab to, CudaStream stream) {
        state.download(STAND_IN_STATE.offset("digest"), to, 0, Long.BYTES, stream);
    }

    private static void require(String field, long bytes) {
        if (bytes < 0 || bytes % VECTOR_BYTES != 0) {
            throw new BadInputException(
                    "stand-in: " + field + " is " + bytes + ", expected a multiple of " + VECTOR_BYTES);
        }
    }

    @Override
    public void close() {
        kernel.close();
        state.close();
    }
}
