package org.expertpool.pool.cuda;

/**
 * One device as the driver describes it.
 *
 * @param sharedBytes dynamic shared memory that a block may be allowed
 * @param memoryBytes total device memory
 * @param pciBusId domain:bus:device.function
 */
public record CudaDevice(
        int index,
        String name,
        int computeMajor,
        int computeMinor,
        int multiprocessors,
        int sharedBytes,
        long memoryBytes,
        String pciBusId) {}
