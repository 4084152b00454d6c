package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import org.expertpool.pool.cuda.layout.StructLayout;

/**
 * One struct in native memory and the driver's table of argument addresses that points at it, filled once and read by
 * the driver during each launch. Kernels that take the same struct may share it.
 */
public final class KernelArgument implements AutoCloseable {
    private final PinnedSlab memory;
    private final ByteBuffer struct;
    private final HostAddress table;

    public KernelArgument(CudaContext context, int bytes) {
        memory = new PinnedSlab(context, bytes + Long.BYTES);
        struct = memory.slice(Long.BYTES, bytes);
        memory.buffer().putLong(0, memory.address() + Long.BYTES);
        table = new HostAddress(memory.address());
    }

    /** An argument of that struct, all zero. */
    public KernelArgument(CudaContext context, StructLayout layout) {
        this(context, layout.bytes());
        struct.put(0, new byte[layout.bytes()]);
    }

    /** The struct, little-endian. */
    public ByteBuffer struct() {
        return struct;
    }

    HostAddress table() {
        return table;
    }

    @Override
    public void close() {
        memory.close();
    }
}
