package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.EXPERT_ALPHAS;

import java.nio.FloatBuffer;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;

/** The resident table of global scale factors, f32 {@code [L * E, 3]} by key. */
public final class AlphaTable implements AutoCloseable {
    private final int experts;
    private final DeviceBuffer memory;

    public AlphaTable(CudaContext context, HostSource source, CudaStream stream) {
        experts = source.experts();
        FloatBuffer alphas = source.alphas();
        memory = DeviceBuffer.holding(
                context,
                stream,
                (long) Float.BYTES * alphas.remaining(),
                host -> host.asFloatBuffer().put(alphas));
    }

    /** Device address of a layer's {@code [E, 3]}. */
    public long address(int layer) {
        return memory.address() + (long) layer * experts * EXPERT_ALPHAS.bytes();
    }

    @Override
    public void close() {
        memory.close();
    }
}
