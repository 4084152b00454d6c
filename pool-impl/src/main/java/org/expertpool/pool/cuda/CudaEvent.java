package org.expertpool.pool.cuda;

import jcuda.driver.CUevent;
import jcuda.driver.JCudaDriver;

/** A mark in a stream, with its time on the device. */
public final class CudaEvent extends CudaResource {
    private final CUevent handle = new CUevent();

    public CudaEvent(CudaContext context) {
        super(context);
        CudaException.check("create an event", "cuEventCreate", JCudaDriver.cuEventCreate(handle, 0));
        context.own(this);
    }

    public void record(CudaStream stream) {
        CudaException.check("record an event", "cuEventRecord", JCudaDriver.cuEventRecord(handle, stream.handle()));
    }

    /** Waits for both and returns the time from {@code start} to this, in microseconds. */
    public double microsecondsSince(CudaEvent start) {
        CudaException.check("wait for an event", "cuEventSynchronize", JCudaDriver.cuEventSynchronize(handle));
        float[] milliseconds = new float[1];
        CudaException.check(
                "read the time between events",
                "cuEventElapsedTime",
                JCudaDriver.cuEventElapsedTime(milliseconds, start.handle, handle));
        return milliseconds[0] * 1e3;
    }

    @Override
    void release() {
        CudaException.check("destroy an event", "cuEventDestroy", JCudaDriver.cuEventDestroy(handle));
    }
}
