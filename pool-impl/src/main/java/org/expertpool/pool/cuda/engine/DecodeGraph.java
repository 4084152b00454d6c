package org.expertpool.pool.cuda.engine;

/** How a decode forward reaches the device. Outputs and placements are the same in all. */
public enum DecodeGraph {
    /** Each kernel launched. */
    NONE,
    /** One captured graph a forward. */
    FULL_DECODE
}
