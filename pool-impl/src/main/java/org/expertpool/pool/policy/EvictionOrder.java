package org.expertpool.pool.policy;

/**
 * The order in which pool rows are given up: what one eviction rule differs from another in. {@link PlannedPolicy} does
 * the rest of the step. Rows are told of within a step as they are used or taken, and take their new place in the order
 * at its end, so that a step never evicts what it uses.
 */
interface EvictionOrder {
    /** The placement returned to its start. */
    void reset();

    /** A selected key was resident in this row. All hits of a step come before its first victim. */
    void hit(int row);

    /** A missing key was promoted to this row: a victim, or a row without owner. */
    void promoted(int row);

    /**
     * The next row of the group to give up: one that was not used in this step and last used before clock
     * {@code usedBefore}; {@link PoolState#ABSENT} if there is none. Asking changes nothing.
     */
    int victim(int group, long usedBefore);

    /** The step is over; its rows all belong to the group. */
    void endStep(int group);

    /** Throws {@link IllegalStateException} if the order's own structure is broken. */
    void check();
}
