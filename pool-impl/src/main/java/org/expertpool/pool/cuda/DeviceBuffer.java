package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import jcuda.driver.JCudaDriver;

/** Device memory. Copies are asynchronous: the pinned side must stay as it is until the stream has been waited for. */
public final class DeviceBuffer extends CudaResource {
    private final DeviceAddress pointer = new DeviceAddress();
    private final long bytes;

    public DeviceBuffer(CudaContext context, long bytes) {
        super(context);
        this.bytes = bytes;
        CudaException.check(
                "allocate " + bytes + " device bytes", "cuMemAlloc", JCudaDriver.cuMemAlloc(pointer, bytes));
        context.own(this);
    }

    /** New device memory with what {@code fill} writes into a little-endian buffer of so many bytes; there on return. */
    public static DeviceBuffer holding(CudaContext context, CudaStream stream, long bytes, Consumer<ByteBuffer> fill) {
        try (CudaContext.Attempt all = context.attempt();
                PinnedSlab host = new PinnedSlab(context, bytes)) {
            DeviceBuffer device = new DeviceBuffer(context, bytes);
            fill.accept(host.buffer());
            device.upload(0, host, 0, bytes, stream);
            stream.synchronise("upload " + bytes + " bytes");
            all.succeeded();
            return device;
        }
    }

    public long address() {
        return pointer.address();
    }

    public long bytes() {
        return bytes;
    }

    /** Enqueues a copy of so many bytes from the start of {@code from} + {@code fromByte} to this buffer's {@code atByte}. */
    public void upload(long atByte, PinnedSlab from, long fromByte, long count, CudaStream stream) {
        requireInside(atByte, count);
        CudaException.check(
                "copy " + count + " bytes to the device",
                "cuMemcpyHtoDAsync",
                JCudaDriver.cuMemcpyHtoDAsync(
                        pointer.withByteOffset(atByte), from.pointer(fromByte, count), count, stream.handle()));
    }

    /** Enqueues a copy of so many bytes of this buffer from {@code atByte} on. */
    public void download(long atByte, PinnedSlab to, long toByte, long count, CudaStream stream) {
        requireInside(atByte, count);
        CudaException.check(
                "copy " + count + " bytes from the device",
                "cuMemcpyDtoHAsync",
                JCudaDriver.cuMemcpyDtoHAsync(
                        to.pointer(toByte, count), pointer.withByteOffset(atByte), count, stream.handle()));
    }

    /** Enqueues a copy of so many bytes of {@code from}, from {@code fromByte} on, to this buffer's {@code atByte}. */
    public void copy(long atByte, DeviceBuffer from, long fromByte, long count, CudaStream stream) {
        requireInside(atByte, count);
        from.requireInside(fromByte, count);
        CudaException.check(
                "copy " + count + " bytes on the device",
                "cuMemcpyDtoDAsync",
                JCudaDriver.cuMemcpyDtoDAsync(
                        pointer.withByteOffset(atByte), from.pointer.withByteOffset(fromByte), count, stream.handle()));
    }

    /** Enqueues setting so many bytes from {@code atByte} on. */
    public void fill(long atByte, long count, byte value, CudaStream stream) {
        requireInside(atByte, count);
        CudaException.check(
                "fill " + count + " device bytes",
                "cuMemsetD8Async",
                JCudaDriver.cuMemsetD8Async(pointer.withByteOffset(atByte), value, count, stream.handle()));
    }

    private void requireInside(long atByte, long count) {
        if (atByte < 0 || count < 0 || atByte + count > bytes) {
            throw new IllegalArgumentException(
                    "bytes " + atByte + " to " + (atByte + count) + " of a device buffer of " + bytes);
        }
    }

    @Override
    void release() {
        CudaException.check("free " + bytes + " device bytes", "cuMemFree", JCudaDriver.cuMemFree(pointer));
    }
}
