package org.expertpool.pool.cuda;

import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.CUstreamWaitValue_flags;
import jcuda.driver.CUstreamWriteValue_flags;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A queue of device work; ordered with no other queue but by events. */
public final class CudaStream extends CudaResource {
    private final CUstream handle = new CUstream();

    public CudaStream(CudaContext context) {
        super(context);
        CudaException.check(
                "create a stream",
                "cuStreamCreate",
                JCudaDriver.cuStreamCreate(handle, CUstream_flags.CU_STREAM_NON_BLOCKING));
        context.own(this);
    }

    /** Waits for all work enqueued; errors of that work come out here, with what was being done. */
    public void synchronise(String doing) {
        CudaException.check(doing, "cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(handle));
    }

    /** Lets what is enqueued from now on wait for an event as it was last recorded; the host does not wait. */
    public void waitFor(CudaEvent event) {
        CudaException.check(
                "wait for an event", "cuStreamWaitEvent", JCudaDriver.cuStreamWaitEvent(handle, event.handle(), 0));
    }

    /** Lets what is enqueued from now on wait until the slab's first i32 holds a value; may be captured. */
    public void waitForValue(PinnedSlab slab, int value) {
        CudaException.check(
                "wait for a value",
                "cuStreamWaitValue32",
                JCudaDriver.cuStreamWaitValue32(
                        handle, slab.mapped(), value, CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ));
    }

    /** Enqueues writing the slab's first i32. */
    public void writeValue(PinnedSlab slab, int value) {
        CudaException.check(
                "write a value",
                "cuStreamWriteValue32",
                JCudaDriver.cuStreamWriteValue32(
                        handle, slab.mapped(), value, CUstreamWriteValue_flags.CU_STREAM_WRITE_VALUE_DEFAULT));
    }

    /** Whether work goes into a graph under capture rather than to the device. */
    public boolean isCapturing() {
        int[] status = new int[1];
        CudaException.check(
                "ask for a capture", "cuStreamIsCapturing", JCudaDriver.cuStreamIsCapturing(handle, status));
        return status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
    }

    CUstream handle() {
        return handle;
    }

    @Override
    void release() {
        CudaException.check("destroy a stream", "cuStreamDestroy", JCudaDriver.cuStreamDestroy(handle));
    }
}
