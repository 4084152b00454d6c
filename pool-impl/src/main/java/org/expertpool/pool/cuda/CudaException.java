package org.expertpool.pool.cuda;

import jcuda.driver.CUresult;

/** A driver call failed: what was being done, which call, and the driver's error. Most are sticky: the context is lost. */
public final class CudaException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final int result;

    private CudaException(String doing, String call, int result) {
        super("%s: %s: %s (%d)".formatted(doing, call, CUresult.stringFor(result), result));
        this.result = result;
    }

    /** Whether there was too little memory, of the device's or to pin; all that is there goes on working. */
    public boolean isOutOfMemory() {
        return result == CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    }

    /** Throws unless the driver's answer is success. An asynchronous error surfaces at whichever call comes next. */
    static void check(String doing, String call, int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaException(doing, call, result);
        }
    }
}
