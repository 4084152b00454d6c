package org.expertpool.pool.policy;

/**
 * Whether a miss is promoted or only staged, beside the planner's controls. Is told of every selection of a step before
 * the first question.
 */
interface PromotionRule {
    /** The placement returned to its start. */
    void reset();

    /** The key is selected by the current step, resident or not. */
    default void selected(int key, float weight) {}

    /** Whether the missing key may take a row at all. */
    default boolean admits(int key, float weight) {
        return true;
    }

    /** Whether the missing key, if admitted, may take the row of this owner. */
    default boolean beats(int key, int victimKey) {
        return true;
    }
}
