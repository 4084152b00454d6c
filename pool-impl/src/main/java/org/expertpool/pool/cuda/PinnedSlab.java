package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/** Pinned, device-mapped host memory of less than 2 GiB: JCuda wraps it in one buffer, which holds no more. */
public final class PinnedSlab extends CudaResource {
    private final HostAddress pointer = new HostAddress();
    private final ByteBuffer buffer;
    private final long bytes;

    public PinnedSlab(CudaContext context, long bytes) {
        super(context);
        if (bytes < 1 || bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a pinned slab of " + bytes + " bytes, expected 1 to " + Integer.MAX_VALUE);
        }
        this.bytes = bytes;
        CudaException.check(
                "pin " + bytes + " host bytes",
                "cuMemHostAlloc",
                JCudaDriver.cuMemHostAlloc(pointer, bytes, JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP));
        context.own(this);
        buffer = pointer.getByteBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** All of it, little-endian; not to be touched after close. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Part of it, little-endian. */
    public ByteBuffer slice(int atByte, int count) {
        return buffer.slice(atByte, count).order(ByteOrder.LITTLE_ENDIAN);
    }

    public long bytes() {
        return bytes;
    }

    /** Address of its first byte as kernels see it. */
    public long deviceAddress() {
        DeviceAddress mapped = new DeviceAddress();
        CudaException.check(
                "map " + bytes + " pinned bytes",
                "cuMemHostGetDevicePointer",
                JCudaDriver.cuMemHostGetDevicePointer(mapped, pointer, 0));
        return mapped.address();
    }

    /** Host address of its first byte. */
    long address() {
        return pointer.address();
    }

    Pointer pointer(long atByte, long count) {
        if (atByte < 0 || count < 0 || atByte + count > bytes) {
            throw new IllegalArgumentException(
                    "bytes " + atByte + " to " + (atByte + count) + " of a pinned slab of " + bytes);
        }
        return new HostAddress(address() + atByte);
    }

    @Override
    void release() {
        CudaException.check("unpin " + bytes + " host bytes", "cuMemFreeHost", JCudaDriver.cuMemFreeHost(pointer));
    }
}
