package org.expertpool.pool.policy;

/**
 * A rule that decides which experts are resident: it sees routing events in order, and of each says how many of the
 * selected experts were resident, promoted and staged. Events are atomic: all of an event's experts are classified
 * against the contents at its start, and none of them is evicted to serve another of the same event.
 */
public interface PlacementPolicy {
    /** The full dotted name with its parameters, as it stands in result files, such as {@code evict.lru}. */
    String name();

    /**
     * Handles one routing event: one layer of one forward.
     *
     * @param layer the layer, in {@code [0, layers)}; layer 0 begins a forward
     * @param selection distinct valid experts of the event in order of first occurrence
     * @param size how many entries of {@code selection} count
     * @param weights router weight of each selected expert (of its first lane), same length
     * @param tally receives this event's counts; {@code hits + promoted + staged} grows by {@code size}
     */
    void step(int layer, int[] selection, int size, float[] weights, StepTally tally);

    /** A sequence ended and placement is to return to its start, where the caller asks for that. */
    void reset();

    /** Checks the policy's own invariants; throws {@link IllegalStateException} naming the broken one. */
    void check();
}
