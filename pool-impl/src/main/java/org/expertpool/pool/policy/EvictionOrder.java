package org.expertpool.pool.policy;

import java.util.Optional;

/**
 * The order in which pool rows are given up: what one eviction rule differs from another in. {@link PlannedPolicy} does
 * the rest of the step, tells of all hits and misses before it asks for the first victim, and never tells of pinned rows.
 * Rows without an owner are taken before a victim is asked for.
 */
interface EvictionOrder {
    /** The placement returned to its start. */
    void reset();

    /** A selected key is resident in this row. */
    void hit(int row, int key, float weight);

    /** A selected key is not resident. */
    default void missed(int key, float weight) {}

    /**
     * The row of the group to give up for the missing key: one last used before clock {@code usedBefore}, or
     * {@link PoolState#ABSENT} if there is none. Asked at most once per miss; the promotion rule may still refuse.
     */
    int victim(int group, int key, long usedBefore);

    /** The owner of this row, the victim, loses it. */
    default void evicted(int row) {}

    /** A missing key owns this row now: a victim's, or one that had no owner. */
    void promoted(int row);

    /** What a planner in one block would keep for this rule; empty where the rule does not fit one. */
    default Optional<DeviceState> deviceState() {
        return Optional.empty();
    }

    /** The step is over; its rows all belong to the group. */
    default void endStep(int group) {}

    /** Throws {@link IllegalStateException} if the order's own structure is broken. */
    default void check() {}
}
