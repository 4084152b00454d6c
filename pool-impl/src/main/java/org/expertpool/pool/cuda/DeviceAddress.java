package org.expertpool.pool.cuda;

import jcuda.driver.CUdeviceptr;

/** A device pointer that tells its address, which JCuda keeps to subclasses. */
final class DeviceAddress extends CUdeviceptr {
    long address() {
        return getNativePointer() + getByteOffset();
    }
}
