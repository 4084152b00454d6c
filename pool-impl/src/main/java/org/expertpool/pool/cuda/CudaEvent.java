package org.expertpool.pool.cuda;

import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.JCudaDriver;

/** A mark in a stream, with its time on the device unless made without. */
public final class CudaEvent extends CudaResource {
    private final CUevent handle = new CUevent();

    public CudaEvent(CudaContext context) {
        this(context, CUevent_flags.CU_EVENT_DEFAULT);
    }

    private CudaEvent(CudaContext context, int flags) {
        super(context);
        CudaException.check("create an event", "cuEventCreate", JCudaDriver.cuEventCreate(handle, flags));
        context.own(this);
    }

    /** An event for order alone, which is cheaper. */
    public static CudaEvent withoutTime(CudaContext context) {
        return new CudaEvent(context, CUevent_flags.CU_EVENT_DISABLE_TIMING);
    }

    public void record(CudaStream stream) {
        CudaException.check("record an event", "cuEventRecord", JCudaDriver.cuEventRecord(handle, stream.handle()));
    }

    /** Lets the host wait until the device has come here; errors of the work before come out, with what was being done. */
    public void await(String doing) {
        CudaException.check(doing, "cuEventSynchronize", JCudaDriver.cuEventSynchronize(handle));
    }

    /** Waits for both and returns the time from {@code start} to this, in microseconds. */
    public double microsecondsSince(CudaEvent start) {
        await("wait for an event");
        float[] milliseconds = new float[1];
        CudaException.check(
                "read the time between events",
                "cuEventElapsedTime",
                JCudaDriver.cuEventElapsedTime(milliseconds, start.handle, handle));
        return milliseconds[0] * 1e3;
    }

    CUevent handle() {
        return handle;
    }

    @Override
    void release() {
        CudaException.check("destroy an event", "cuEventDestroy", JCudaDriver.cuEventDestroy(handle));
    }
}
