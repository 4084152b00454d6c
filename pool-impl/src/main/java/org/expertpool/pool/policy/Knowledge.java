package org.expertpool.pool.policy;

/** What a policy must be told of the trace before the first event. */
public enum Knowledge {
    /** Selection counts, from a file or from the first half of the trace. */
    PROFILE,
    /** Selection counts of the very part that is scored. */
    SCORED_PROFILE,
    /** Rows of each layer, from miss curves of the first half of the trace. */
    LAYER_ROWS,
    /** The first use of each expert from the start, and in every event the next use of each selected one. */
    FUTURE
}
