package org.expertpool.pool.format;

/** bfloat16: the upper half of an fp32. */
public final class Bf16 {
    private static final int QUIET = 0x0040;

    private Bf16() {}

    public static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Nearest, ties to even; overflow gives infinity; NaN stays NaN with its sign and upper payload, made quiet. */
    public static short fromFloat(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) ((bits >>> 16) | QUIET);
        }
        int even = (bits >>> 16) & 1;
        return (short) ((bits + 0x7FFF + even) >>> 16);
    }

    /** The value after rounding to bf16. */
    public static float round(float value) {
        return toFloat(fromFloat(value));
    }
}
