package org.expertpool.pool.format;

/**
 * The 8-bit block scale of NVFP4, "fn" flavour (marlin-nvfp4 1.2): sign, 4 exponent bits with bias 7, 3 mantissa bits.
 * 0x7F and 0xFF are NaN, there is no infinity, the largest value is 448.
 */
public final class E4M3 {
    /** Largest finite value. */
    public static final float MAX = 448f;

    /** Smallest positive value, 2^-9. */
    public static final float MIN_POSITIVE = 0x1p-9f;

    private static final int MAX_BITS = 0x7E;
    private static final int NAN_BITS = 0x7F;
    private static final int MANTISSA_BITS = 3;
    private static final int SMALLEST_NORMAL_EXPONENT = -6;

    private E4M3() {}

    /** The value of a byte; NaN for 0x7F and 0xFF. */
    public static float decode(byte bits) {
        int magnitude = bits & 0x7F;
        float value = magnitude == NAN_BITS ? Float.NaN : finite(magnitude >> MANTISSA_BITS, magnitude & 7);
        return bits < 0 ? -value : value;
    }

    /** Whether the byte is one of the two NaNs. */
    public static boolean isNaN(byte bits) {
        return (bits & 0x7F) == NAN_BITS;
    }

    /**
     * The nearest byte, ties to the even one; beyond 448, infinity included, it saturates. NaN becomes NaN; the sign is
     * kept.
     */
    public static byte encode(float value) {
        int sign = (Float.floatToRawIntBits(value) >>> 31) << 7;
        return (byte) (sign | magnitudeBits(Math.abs(value)));
    }

    private static float finite(int exponent, int mantissa) {
        return exponent == 0
                ? mantissa * MIN_POSITIVE
                : Math.scalb(8 + mantissa, exponent - 1 + SMALLEST_NORMAL_EXPONENT - MANTISSA_BITS);
    }

    private static int magnitudeBits(float magnitude) {
        if (Float.isNaN(magnitude)) {
            return NAN_BITS;
        }
        if (magnitude >= MAX) {
            return MAX_BITS;
        }
        int exponent = Math.max(Math.getExponent(magnitude), SMALLEST_NORMAL_EXPONENT);
        // In units of the last place at this exponent the scaling is exact, and rint rounds ties to even. A carry
        // runs over into the exponent by itself, and the subnormal row needs no case of its own.
        int units = (int) Math.rint((double) Math.scalb(magnitude, MANTISSA_BITS - exponent));
        return ((exponent - SMALLEST_NORMAL_EXPONENT) << MANTISSA_BITS) + units;
    }
}
