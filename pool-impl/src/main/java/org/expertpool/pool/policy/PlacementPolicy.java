package org.expertpool.pool.policy;

/**
 * A rule that decides which experts are resident: it sees routing events in order, and of each says how many of the
 * selected experts were resident, promoted and staged. Events are atomic: all of an event's experts are classified
 * against the contents at its start, and none of them is evicted to serve another of the same event.
 */
public interface PlacementPolicy {
    /** Handles one event; {@code hits + promoted + staged} of the tally grows by {@code event.size}. */
    void step(RoutingEvent event, StepTally tally);

    /** The expert's pool row, or -1. Whoever moves bytes keeps them where this says. */
    int row(int layer, int expert);

    /** Whether the expert owns a pool row, so that a forward on the partition path reads it from the bank. */
    default boolean isResident(int layer, int expert) {
        return row(layer, expert) != PoolState.ABSENT;
    }

    /** Returns to the state before the first event. */
    void reset();

    /** Checks the policy's own invariants; throws {@link IllegalStateException} naming the broken one. */
    void check();
}
