package org.expertpool.pool.cuda;

import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureStatus;
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
