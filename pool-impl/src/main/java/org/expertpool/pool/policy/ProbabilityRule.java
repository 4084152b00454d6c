package org.expertpool.pool.policy;

/**
 * Promotes a miss with a fixed probability. The n-th question draws from a hash of (seed, n), so that a run is repeatable;
 * a draw of 32 bits below {@code probability * 2^32} admits.
 */
final class ProbabilityRule implements PromotionRule {
    private final long admittedBelow;
    private final CounterRandom random;

    ProbabilityRule(double probability, long seed) {
        admittedBelow = (long) Math.rint(probability * 0x1p32);
        random = new CounterRandom(seed);
    }

    @Override
    public void reset() {
        random.reset();
    }

    @Override
    public boolean admits(int key, float weight) {
        boolean admitted = random.bits() < admittedBelow;
        random.advance();
        return admitted;
    }
}
