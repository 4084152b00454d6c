package org.expertpool.pool.policy;

import java.util.Optional;

/**
 * Promotes a miss whose router weight is at least a threshold; without weights in the trace every weight is 1. Device form:
 * one comparison of f32 values, no state.
 *
 * <p>Source: the design of this project: experts that the router hardly weighs are not worth a row.
 */
final class RouterWeightRule implements PromotionRule {
    private final float threshold;

    RouterWeightRule(float threshold) {
        this.threshold = threshold;
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of());
    }

    @Override
    public void reset() {
        // No state.
    }

    @Override
    public boolean admits(int key, float weight) {
        return weight >= threshold;
    }
}
