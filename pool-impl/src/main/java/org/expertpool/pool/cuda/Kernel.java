package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import jcuda.driver.CUfunction;
import jcuda.driver.JCudaDriver;

/**
 * A kernel that takes one struct by value. The struct and the driver's table of argument addresses lie in native memory
 * and are filled once: JCuda's own marshalling costs some 3 microseconds a launch, this a tenth.
 */
public final class Kernel implements AutoCloseable {
    private final String name;
    private final CUfunction function;
    private final ByteBuffer argument;
    private final PinnedSlab memory;
    private final HostAddress table;

    Kernel(String name, CUfunction function, PinnedSlab memory, int argumentBytes) {
        this.name = name;
        this.function = function;
        this.memory = memory;
        argument = memory.slice(Long.BYTES, argumentBytes);
        memory.buffer().putLong(0, memory.address() + Long.BYTES);
        table = new HostAddress(memory.address());
    }

    /** The struct, little-endian; read by the driver during each launch. */
    public ByteBuffer argument() {
        return argument;
    }

    /** Enqueues a launch of so many blocks of so many threads. */
    public void launch(int blocks, int threads, CudaStream stream) {
        CudaException.check(
                "launch " + name,
                "cuLaunchKernel",
                JCudaDriver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream.handle(), table, null));
    }

    /** Frees the argument's memory; the function belongs to the context. */
    @Override
    public void close() {
        memory.close();
    }
}
