package org.expertpool.pool.bank;

/**
 * The SplitMix64 generator of Steele, Lea and Flood (2014), written out so that synthetic rows never change with the
 * JDK.
 */
final class SplitMix64 {
    private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;

    private long state;

    SplitMix64(long seed) {
        state = seed;
    }

    long next() {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    /** Uniform in [0, 1). */
    double nextUnit() {
        return (next() >>> 11) * 0x1p-53;
    }

    /** A generator whose stream depends on this one's state and the key; this one does not advance. */
    SplitMix64 derive(long key) {
        return new SplitMix64(mix(state + GOLDEN_GAMMA) ^ mix(key));
    }

    private static long mix(long bits) {
        long z = (bits ^ (bits >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
