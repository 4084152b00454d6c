package org.expertpool.pool.policy;

/**
 * Promotes a miss whose router weight is at least a threshold; without weights in the trace every weight is 1. Device form:
 * one comparison of f32 values, no state.
 */
final class RouterWeightRule implements PromotionRule {
    private final float threshold;

    RouterWeightRule(float threshold) {
        this.threshold = threshold;
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
