package org.expertpool.pool.marlin;

import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.E4M3;
import org.expertpool.pool.format.Fp16;

/**
 * The 8-bit scale codes "S0E5M3" that Marlin expands in registers (marlin-nvfp4 2.4): the upper bits of the fp16 value
 * {@code s * sf * 128} without its sign. The order of the bytes is not touched.
 */
public final class ScaleCodes {
    /** What one projection's codes came to: codes in the order of the input, the exponent of sf, and the loss. */
    public static final class Encoded {
        private final byte[] codes;
        private final int log2Factor;
        private final ScaleLoss loss;

        private Encoded(byte[] codes, int log2Factor, ScaleLoss loss) {
            this.codes = codes;
            this.log2Factor = log2Factor;
            this.loss = loss;
        }

        /** The codes themselves; not a copy. */
        public byte[] codes() {
            return codes;
        }

        public int log2Factor() {
            return log2Factor;
        }

        public ScaleLoss loss() {
            return loss;
        }
    }

    private static final int TOP_BIT = 0x80;

    private ScaleCodes() {}

    /**
     * Encodes the block scales of one projection of one expert.
     *
     * @param scales E4M3 bytes; negative values and NaN are bad input, minus zero counts as zero
     */
    public static Encoded encode(byte[] scales, ScaleFactorRule rule, ActivationType type) {
        int ruled = log2Factor(scales, rule);
        int log2Factor = type.rescalesBlockScales() ? ruled : 0;
        // Rule and codes see only the byte, so that the 127 possible scales are worked out once.
        byte[] codeOf = new byte[128];
        for (int bits = 0; bits < 0x7F; bits++) {
            float rescaled = Math.scalb(E4M3.decode((byte) bits), log2Factor);
            codeOf[bits] = rule.zeroes(rescaled) ? 0 : code(rescaled);
        }
        byte[] codes = new byte[scales.length];
        for (int i = 0; i < scales.length; i++) {
            codes[i] = codeOf[scales[i] & 0x7F];
        }
        return new Encoded(codes, log2Factor, ScaleLoss.of(scales, codes, log2Factor));
    }

    /** The value {@code s * sf} that a code stands for. */
    public static float decode(byte code) {
        int exponent = (code & 0xFF) >> 3;
        int mantissa = code & 7;
        return exponent == 0 ? Math.scalb(mantissa, -14 - 3 - 7) : Math.scalb(8 + mantissa, exponent - 15 - 3 - 7);
    }

    /**
     * Checks codes that are to be expanded to bf16: a code that is not zero needs its top bit, else its weights come out
     * 2^112 times too small. Catches raw E4M3 bytes taken for codes.
     *
     * @throws BadInputException naming the first code in [0x01, 0x7F]
     */
    public static void requireExactInBf16(byte[] codes) {
        for (int i = 0; i < codes.length; i++) {
            if (codes[i] > 0) {
                throw new BadInputException(String.format(
                        Locale.ROOT,
                        "Marlin scales: code %d is 0x%02x, expected 0 or at least 0x%02x (is it a raw E4M3 byte?)",
                        i,
                        codes[i],
                        TOP_BIT));
            }
        }
    }

    private static byte code(float rescaled) {
        float v = Fp16.round(Fp16.round(rescaled) * 128);
        return (byte) (Fp16.fromFloat(v) >> 7);
    }

    private static int log2Factor(byte[] scales, ScaleFactorRule rule) {
        float smallest = Float.POSITIVE_INFINITY;
        float largest = 0;
        for (int i = 0; i < scales.length; i++) {
            float scale = E4M3.decode(scales[i]);
            if (!(scale >= 0)) {
                throw new BadInputException(String.format(
                        Locale.ROOT,
                        "Marlin scales: block scale %d is 0x%02x (%s), expected a number that is not negative",
                        i,
                        scales[i] & 0xFF,
                        scale));
            }
            if (scale > 0) {
                smallest = Math.min(smallest, scale);
                largest = Math.max(largest, scale);
            }
        }
        return largest == 0 ? 0 : rule.log2Factor(smallest, largest);
    }
}
