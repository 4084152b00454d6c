package org.expertpool.harness.trace.synthetic;

/**
 * Steele, Lea and Flood's SplitMix64 generator, spelt out so that a seed gives the same numbers on every JDK. Streams
 * made from different (seed, stream) pairs are independent for our purpose.
 */
final class SplitMix64 {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
    private static final double EULER_GAMMA = 0.5772156649015329;
    private static final double UNIT = 0x1.0p-53;

    /** Four 16-bit fields sum to 131,070 on average with variance (2^32 - 1) / 3. */
    private static final float BELL_MEAN = 131_070f;

    private static final float BELL_SCALE = (float) (1.0 / StrictMath.sqrt((4_294_967_296.0 - 1) / 3));

    private long state;

    SplitMix64(long seed, long stream) {
        state = mix(mix(seed + GOLDEN_GAMMA) ^ mix(stream * GOLDEN_GAMMA + 1));
    }

    long nextLong() {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    /** Uniform in [0, 1). */
    double nextUnit() {
        return (nextLong() >>> 11) * UNIT;
    }

    /** Uniform in [0, bound), bound at least 1; the bias below 2^-53 does not matter here. */
    int nextBelow(int bound) {
        return (int) (nextUnit() * bound);
    }

    /** Mean 0, standard deviation 1, bell-shaped within 3.46 deviations: the sum of four uniform numbers. */
    float nextBell() {
        long bits = nextLong();
        long sum = (bits & 0xFFFF) + (bits >>> 16 & 0xFFFF) + (bits >>> 32 & 0xFFFF) + (bits >>> 48);
        return (sum - BELL_MEAN) * BELL_SCALE;
    }

    /** Mean 0, standard deviation 1, two values: the lower one with probability {@code share} in (0, 1). */
    float nextTwoPoint(double share) {
        double spread = StrictMath.sqrt(share * (1 - share));
        return (float) (nextUnit() < share ? -(1 - share) / spread : share / spread);
    }

    /** Quantile of the log-Weibull law at {@code share} in (0, 1), scaled to mean 0 and standard deviation 1. */
    static double logWeibull(double share) {
        return (StrictMath.log(-StrictMath.log(1 - share)) + EULER_GAMMA) * StrictMath.sqrt(6) / Math.PI;
    }

    private static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
