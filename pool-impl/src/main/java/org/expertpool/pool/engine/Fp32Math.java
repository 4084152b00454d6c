package org.expertpool.pool.engine;

/**
 * exp and silu in fp32, from operations that IEEE 754 fixes to the last bit. CUDA repeats them with {@code __fmaf_rn},
 * {@code __fmul_rn}, {@code __fsub_rn} and {@code __fdiv_rn}.
 *
 * <pre>
 * exp(x): NaN -> NaN;  x > 89 -> infinity;  x < -104 -> 0;  else
 *   t = fma(x, LOG2_E, 1.5 * 2^23);  n = t - 1.5 * 2^23              n = x / ln 2 to the nearest whole number
 *   r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x))                       |r| at most 0.35
 *   p = 1 + r + r^2/2! + ... + r^7/7!                                Horner, fma, from the highest
 *   result = (p * 2^(n >> 1)) * 2^(n - (n >> 1))                     rounds once, also where it overflows or is subnormal
 * silu(x) = x / (1 + exp(-x))
 * </pre>
 */
public final class Fp32Math {
    private static final float LARGEST = 89f;
    private static final float SMALLEST = -104f;
    private static final float LOG2_E = 0x1.715476p+0f;
    private static final float ROUND_TO_WHOLE = 0x1.8p+23f;

    /** ln 2 in two parts; n times the high part is exact. */
    private static final float LN2_HIGH = 0x1.63p-1f;

    private static final float LN2_LOW = -0x1.bd0106p-13f;

    /** 1/7!, 1/6!, ... 1/1!, 1/0!, each the nearest fp32. */
    private static final float[] TAYLOR = {
        0x1.a01a02p-13f, 0x1.6c16c2p-10f, 0x1.111112p-7f, 0x1.555556p-5f, 0x1.555556p-3f, 0.5f, 1f, 1f
    };

    private static final int EXPONENT_BIAS = 127;
    private static final int MANTISSA_BITS = 23;

    private Fp32Math() {}

    /** e^x, within 2 units in the last place. */
    public static float exp(float x) {
        if (Float.isNaN(x)) {
            return x;
        }
        if (x > LARGEST) {
            return Float.POSITIVE_INFINITY;
        }
        if (x < SMALLEST) {
            return 0f;
        }
        float n = Math.fma(x, LOG2_E, ROUND_TO_WHOLE) - ROUND_TO_WHOLE;
        float r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, x));
        float p = TAYLOR[0];
        for (int i = 1; i < TAYLOR.length; i++) {
            p = Math.fma(p, r, TAYLOR[i]);
        }
        int exponent = (int) n;
        int half = exponent >> 1;
        return p * powerOfTwo(half) * powerOfTwo(exponent - half);
    }

    /** x times the logistic function of x. */
    public static float silu(float x) {
        return x / (1f + exp(-x));
    }

    private static float powerOfTwo(int exponent) {
        return Float.intBitsToFloat((exponent + EXPONENT_BIAS) << MANTISSA_BITS);
    }
}
