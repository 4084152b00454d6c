package org.expertpool.pool.bank;

import java.nio.ByteBuffer;

/** Where the rows of a host source are to lie: pinned memory for a device, any memory outside the heap without one. */
@FunctionalInterface
public interface SlabAllocator {
    /** Memory that the garbage collector frees. */
    SlabAllocator DIRECT = (layer, bytes) -> ByteBuffer.allocateDirect(bytes);

    /**
     * New memory for one layer's rows: position 0, limit {@code bytes}, with whatever it holds. Asked once a layer, by
     * any thread and by several at once.
     *
     * @param bytes at least 1
     */
    ByteBuffer slab(int layer, int bytes);
}
