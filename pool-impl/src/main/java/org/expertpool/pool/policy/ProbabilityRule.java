package org.expertpool.pool.policy;

import java.util.Optional;

/**
 * Promotes a miss with a fixed probability. The n-th question draws from a hash of (seed, n), so that a run is repeatable;
 * a draw of 32 bits below {@code probability * 2^32} admits. Keeps no counts.
 *
 * <p>Source: probabilistic admission, as caches in flash do it to spare writes (CacheLib, OSDI 2020).
 */
final class ProbabilityRule implements PromotionRule {
    private final long admittedBelow;
    private final CounterRandom random;

    ProbabilityRule(double probability, long seed) {
        admittedBelow = (long) Math.rint(probability * 0x1p32);
        random = new CounterRandom(seed);
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(new DeviceState.Array("draws", DeviceState.Entry.I64, 1)));
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
