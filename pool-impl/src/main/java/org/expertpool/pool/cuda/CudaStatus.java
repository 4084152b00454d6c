package org.expertpool.pool.cuda;

import java.nio.file.Path;
import java.util.List;

/** What a probe for CUDA found. */
public sealed interface CudaStatus {
    /** Whose driver answered: a stub proves argument passing, never a device's behaviour. */
    enum DriverKind {
        REAL,
        STUB
    }

    /**
     * A driver with at least one device.
     *
     * @param library where its libcuda.so.1 lies
     * @param cudaVersion the newest CUDA version that the driver serves, such as 13.0
     */
    record Available(DriverKind driverKind, Path library, String cudaVersion, List<CudaDevice> devices)
            implements CudaStatus {
        public Available {
            devices = List.copyOf(devices);
        }
    }

    /**
     * No usable device.
     *
     * @param reason one line: what was looked for, and what was there instead
     */
    record Missing(String reason) implements CudaStatus {}
}
