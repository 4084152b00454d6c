package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.JCudaDriver;

/**
 * A kernel that takes one struct by value. The struct and the driver's table of argument addresses lie in native memory
 * and are filled once: JCuda's own marshalling costs some 3 microseconds a launch, this less than one.
 */
public final class Kernel implements AutoCloseable {
    private static final int ALL_PERCENT = 100;

    private final String name;
    private final String launching; // made once: a launch is timed in microseconds
    private final CUfunction function;
    private final KernelArgument argument;

    Kernel(String name, CUfunction function, KernelArgument argument) {
        this.name = name;
        launching = "launch " + name;
        this.function = function;
        this.argument = argument;
    }

    /** The struct, little-endian; read by the driver during each launch. */
    public ByteBuffer argument() {
        return argument.struct();
    }

    /**
     * Allows launches with up to so many bytes of dynamic shared memory, where the default of 48 KiB is too little, and
     * gives shared memory what the first-level cache could have, so that several such blocks run at a time. What was allowed
     * stays: the driver keeps one figure a function, which launches bound before share.
     */
    public void allowSharedBytes(int bytes) {
        int[] allowed = new int[1];
        CudaException.check(
                "ask how many shared bytes " + name + " may take",
                "cuFuncGetAttribute",
                JCudaDriver.cuFuncGetAttribute(
                        allowed, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
        if (bytes > allowed[0]) {
            set(
                    "allow " + name + " " + bytes + " shared bytes",
                    CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    bytes);
        }
        set(
                "prefer shared memory for " + name,
                CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                ALL_PERCENT);
    }

    private void set(String doing, int attribute, int value) {
        CudaException.check(doing, "cuFuncSetAttribute", JCudaDriver.cuFuncSetAttribute(function, attribute, value));
    }

    /** Enqueues a launch of so many blocks of so many threads. */
    public void launch(int blocks, int threads, CudaStream stream) {
        launch(blocks, threads, 0, stream);
    }

    /** As {@link #launch(int, int, CudaStream)}, with so many bytes of dynamic shared memory a block. */
    public void launch(int blocks, int threads, int sharedBytes, CudaStream stream) {
        CudaException.check(
                launching,
                "cuLaunchKernel",
                JCudaDriver.cuLaunchKernel(
                        function, blocks, 1, 1, threads, 1, 1, sharedBytes, stream.handle(), argument.table(), null));
    }

    /**
     * As {@link #launch(int, int, int, CudaStream)}, of blocks that wait for each other: the driver starts them when there is
     * room for all. At most a block a multiprocessor.
     */
    public void launchTogether(int blocks, int threads, int sharedBytes, CudaStream stream) {
        CudaException.check(
                launching,
                "cuLaunchCooperativeKernel",
                JCudaDriver.cuLaunchCooperativeKernel(
                        function, blocks, 1, 1, threads, 1, 1, sharedBytes, stream.handle(), argument.table()));
    }

    /** Frees the argument's memory; the function belongs to the context. */
    @Override
    public void close() {
        argument.close();
    }
}
