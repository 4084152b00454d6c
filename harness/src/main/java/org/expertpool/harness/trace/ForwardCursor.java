package org.expertpool.harness.trace;

/**
 * Walks a trace one forward at a time. A forward has {@code tokens()} tokens (1 in single-stream decode), each with
 * {@code topK} lanes per layer; lanes are numbered token-major: {@code token * topK + slot}. Nothing is allocated per
 * forward.
 */
public interface ForwardCursor {
    /** Moves to the next forward; false at the end. */
    boolean next();

    /** Index of the current forward, from 0. */
    long forward();

    /** Whether the current forward is the first of its sequence. */
    boolean startsSequence();

    /** Whether the current forward is a prefill chunk (decode otherwise). */
    boolean isPrefill();

    /** Tokens in the current forward, at least 1. */
    int tokens();

    /** Position, in its sequence, of the current forward's first token. */
    int position();

    /**
     * Copies the ids of one layer into {@code ids[0 .. tokens() * topK - 1]}, token-major, in router order.
     *
     * @return the number of lanes, {@code tokens() * topK}
     */
    int ids(int layer, int[] ids);

    /** As {@link #ids} for router weights; 1.0 in every lane where the trace has none. */
    int weights(int layer, float[] weights);
}
