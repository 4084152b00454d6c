package org.expertpool.pool.policy;

/** Random numbers by counter: the n-th is a hash of (seed, n), SplitMix64's finaliser. */
final class CounterRandom {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private final long seed;
    private long counter;

    CounterRandom(long seed) {
        this.seed = seed;
    }

    void reset() {
        counter = 0;
    }

    /** Moves to the next number. */
    void advance() {
        counter++;
    }

    /** The current number, as 32 uniform bits. */
    long bits() {
        long z = (seed << 32) + (counter + 1) * GOLDEN_GAMMA;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return (z ^ (z >>> 31)) >>> 32;
    }

    /** The current number, scaled to {@code 0..bound-1}. */
    int below(int bound) {
        return (int) ((bits() * bound) >>> 32);
    }
}
