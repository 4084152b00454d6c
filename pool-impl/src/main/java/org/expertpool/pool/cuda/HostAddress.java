package org.expertpool.pool.cuda;

import jcuda.Pointer;

/** A native host pointer, as the driver fills it or from an address. */
final class HostAddress extends Pointer {
    HostAddress() {}

    HostAddress(long address) {
        super(address);
    }

    long address() {
        return getNativePointer() + getByteOffset();
    }
}
