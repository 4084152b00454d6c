package org.expertpool.pool.lifecycle;

/** The kind of memory that a host source lies in. */
public enum HostMemory {
    /** Pinned and mapped: a device reads it. */
    PINNED,
    /** Locked in RAM but unknown to the device. */
    LOCKED,
    /** May be paged out. */
    PAGEABLE,
    /** Read by the Java backend alone, where no device takes part. */
    NO_DEVICE
}
