package org.expertpool.pool.cuda.engine;

/** How a decode forward reaches the device. Outputs and placements are the same in all. */
public enum DecodeGraph {
    /** Each kernel launched. */
    NONE,
    /** A captured graph of what lies between the MoE layers, and these launched kernel by kernel. */
    PIECEWISE,
    /** One captured graph a forward. */
    FULL_DECODE
}
