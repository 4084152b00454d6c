package org.expertpool.pool.format;

/** IEEE half precision: sign, 5 exponent bits with bias 15, 10 mantissa bits. */
public final class Fp16 {
    /** Largest finite value. */
    public static final float MAX = 65_504f;

    private static final int INFINITY_BITS = 0x7C00;
    private static final short NAN = 0x7FFF;
    private static final int MANTISSA_BITS = 10;
    private static final int SMALLEST_NORMAL_EXPONENT = -14;

    private Fp16() {}

    public static float toFloat(short bits) {
        int sign = (bits << 16) & 0x8000_0000;
        int exponent = (bits >>> MANTISSA_BITS) & 0x1F;
        int mantissa = bits & 0x3FF;
        if (exponent == 0x1F) {
            return Float.intBitsToFloat(sign | 0x7F80_0000 | (mantissa << 13));
        }
        float magnitude = exponent == 0
                ? mantissa * 0x1p-24f
                : Math.scalb(1024 + mantissa, exponent - 1 + SMALLEST_NORMAL_EXPONENT - MANTISSA_BITS);
        return Float.intBitsToFloat(sign | Float.floatToRawIntBits(magnitude));
    }

    /** Nearest, ties to even; overflow gives infinity; every NaN gives 0x7FFF, as devices do. */
    public static short fromFloat(float value) {
        if (Float.isNaN(value)) {
            return NAN;
        }
        int sign = (Float.floatToRawIntBits(value) >>> 16) & 0x8000;
        return (short) (sign | magnitudeBits(Math.abs(value)));
    }

    /** The value after rounding to fp16. */
    public static float round(float value) {
        return toFloat(fromFloat(value));
    }

    private static int magnitudeBits(float magnitude) {
        if (magnitude > 2 * MAX) {
            return INFINITY_BITS;
        }
        int exponent = Math.max(Math.getExponent(magnitude), SMALLEST_NORMAL_EXPONENT);
        int units = (int) Math.rint((double) Math.scalb(magnitude, MANTISSA_BITS - exponent));
        int bits = ((exponent - SMALLEST_NORMAL_EXPONENT) << MANTISSA_BITS) + units;
        return Math.min(bits, INFINITY_BITS);
    }
}
