package org.expertpool.pool.format;

/** bfloat16: the upper half of an fp32. */
public final class Bf16 {
    private static final short NAN = 0x7FFF;

    private Bf16() {}

    public static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Nearest, ties to even; overflow gives infinity; every NaN gives 0x7FFF, as devices do. */
    public static short fromFloat(float value) {
        if (Float.isNaN(value)) {
            return NAN;
        }
        int bits = Float.floatToRawIntBits(value);
        int even = (bits >>> 16) & 1;
        return (short) ((bits + 0x7FFF + even) >>> 16);
    }

    /** The value after rounding to bf16. */
    public static float round(float value) {
        return toFloat(fromFloat(value));
    }
}
