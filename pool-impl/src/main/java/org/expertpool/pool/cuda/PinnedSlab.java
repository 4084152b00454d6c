package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/** Pinned, device-mapped host memory of less than 2 GiB: JCuda wraps it in one buffer, which holds no more. */
public final class PinnedSlab extends CudaResource {
    private static final int PAGE_BYTES = 4096;

    private final ByteBuffer buffer;
    private final long bytes;
    private final boolean registered; // memory of the JVM's, which the driver pinned
    private final Pointer pointer;

    /** New memory of the driver's. */
    public PinnedSlab(CudaContext context, long bytes) {
        super(context);
        requireSize(bytes);
        this.bytes = bytes;
        registered = false;
        pointer = new HostAddress();
        CudaException.check(
                "pin " + bytes + " host bytes",
                "cuMemHostAlloc",
                JCudaDriver.cuMemHostAlloc(pointer, bytes, JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP));
        context.own(this);
        buffer = pointer.getByteBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private PinnedSlab(CudaContext context, ByteBuffer memory, int flags) {
        super(context);
        buffer = memory;
        bytes = memory.capacity();
        registered = true;
        pointer = Pointer.toBuffer(memory);
        CudaException.check(
                "pin " + bytes + " host bytes",
                "cuMemHostRegister",
                JCudaDriver.cuMemHostRegister(pointer, bytes, JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP | flags));
        context.own(this);
    }

    /**
     * Memory of the JVM's, pinned, where the JVM grants so much outside its heap; else the driver's. The driver makes new
     * memory at 2 GiB/s, however many threads ask; the JVM makes it in each thread, and the driver pins what is there at
     * 20 GiB/s.
     */
    public static PinnedSlab large(CudaContext context, long bytes) {
        requireSize(bytes);
        ByteBuffer memory;
        try {
            memory = pages(bytes);
        } catch (OutOfMemoryError beyondMaxDirectMemorySize) {
            return new PinnedSlab(context, bytes);
        }
        return new PinnedSlab(context, memory, 0);
    }

    /** Memory of a file that is mapped to be read alone, from a page's start on. */
    static PinnedSlab mapped(CudaContext context, ByteBuffer memory) {
        return new PinnedSlab(context, memory, JCudaDriver.CU_MEMHOSTREGISTER_READ_ONLY);
    }

    /** Whole pages, so that no page is pinned twice. */
    private static ByteBuffer pages(long bytes) {
        long whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        if (whole + PAGE_BYTES > Integer.MAX_VALUE) {
            throw new OutOfMemoryError(bytes + " bytes and two pages are more than a buffer holds");
        }
        return ByteBuffer.allocateDirect((int) whole + PAGE_BYTES)
                .alignedSlice(PAGE_BYTES)
                .slice(0, (int) bytes)
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void requireSize(long bytes) {
        if (bytes < 1 || bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a pinned slab of " + bytes + " bytes, expected 1 to " + Integer.MAX_VALUE);
        }
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
        return mapped().address();
    }

    DeviceAddress mapped() {
        DeviceAddress mapped = new DeviceAddress();
        CudaException.check(
                "map " + bytes + " pinned bytes",
                "cuMemHostGetDevicePointer",
                JCudaDriver.cuMemHostGetDevicePointer(mapped, pointer, 0));
        return mapped;
    }

    /** Host address of its first byte, of the driver's memory. */
    long address() {
        return ((HostAddress) pointer).address();
    }

    Pointer pointer(long atByte, long count) {
        if (atByte < 0 || count < 0 || atByte + count > bytes) {
            throw new IllegalArgumentException(
                    "bytes " + atByte + " to " + (atByte + count) + " of a pinned slab of " + bytes);
        }
        return pointer.withByteOffset(atByte);
    }

    @Override
    void release() {
        if (registered) {
            CudaException.check(
                    "unpin " + bytes + " host bytes", "cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(pointer));
        } else {
            CudaException.check("unpin " + bytes + " host bytes", "cuMemFreeHost", JCudaDriver.cuMemFreeHost(pointer));
        }
    }
}
