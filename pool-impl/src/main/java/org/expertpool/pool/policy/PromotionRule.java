package org.expertpool.pool.policy;

import java.util.Optional;

/**
 * Whether a miss is promoted or only staged, beside the planner's controls. Is told of every selection of a step before
 * the first question.
 */
interface PromotionRule {
    /** The placement returned to its start. */
    void reset();

    /** What a planner in one block would keep for this rule; empty where the rule does not fit one. */
    default Optional<DeviceState> deviceState() {
        return Optional.empty();
    }

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
