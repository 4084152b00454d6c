package org.expertpool.pool.plan;

import java.nio.IntBuffer;
import java.nio.LongBuffer;

/** The placement as flat buffers, as a device holds it: [L*E], [L*E], [R], [R], [L*E]. Positions are not moved. */
public record TableImage(
        IntBuffer hotRow, IntBuffer coldRow, IntBuffer rowKey, LongBuffer rowUse, IntBuffer missCount) {}
