package org.expertpool.pool.format;

/**
 * The 4-bit element of NVFP4 (marlin-nvfp4 1.1): bit 3 sign, bits 2..1 exponent with bias 1, bit 0 mantissa. No NaN, no
 * infinity; code 8 is minus zero.
 */
public final class E2M1 {
    /** Largest magnitude. */
    public static final float MAX = 6f;

    private static final float[] MAGNITUDES = {0f, 0.5f, 1f, 1.5f, 2f, 3f, 4f, 6f};
    private static final int SIGN = 8;

    private E2M1() {}

    /** The value of the low four bits. */
    public static float decode(int code) {
        float magnitude = MAGNITUDES[code & 7];
        return (code & SIGN) == 0 ? magnitude : -magnitude;
    }

    /**
     * The nearest code, ties to the even one; beyond 6, infinity included, it saturates. The sign is kept, also of what
     * rounds to zero.
     *
     * @throws IllegalArgumentException NaN, which has no code
     */
    public static int encode(float value) {
        if (Float.isNaN(value)) {
            throw new IllegalArgumentException("E2M1 has no code for NaN");
        }
        int sign = Float.floatToRawIntBits(value) < 0 ? SIGN : 0;
        return sign | magnitudeCode(Math.abs(value));
    }

    /** Each bound is the midpoint between two values; it belongs to the neighbour with the even code. */
    private static int magnitudeCode(float magnitude) {
        if (magnitude <= 0.25f) {
            return 0;
        }
        if (magnitude < 0.75f) {
            return 1;
        }
        if (magnitude <= 1.25f) {
            return 2;
        }
        if (magnitude < 1.75f) {
            return 3;
        }
        if (magnitude <= 2.5f) {
            return 4;
        }
        if (magnitude < 3.5f) {
            return 5;
        }
        return magnitude <= 5f ? 6 : 7;
    }
}
