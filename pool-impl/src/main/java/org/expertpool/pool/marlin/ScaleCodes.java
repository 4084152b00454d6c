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
    private static final int MAGNITUDE = 0x7F;

    private ScaleCodes() {}

    /**
     * Encodes the block scales of one projection of one expert.
     *
     * @param scales E4M3 bytes; negative values and NaN are bad input, minus zero counts as zero
     */
    public static Encoded encode(byte[] scales, ScaleFactorRule rule, ActivationType type) {
        ScaleTable table = ScaleTable.of(counts(scales), rule, type);
        byte[] codes = new byte[scales.length];
        for (int i = 0; i < scales.length; i++) {
            codes[i] = table.codes()[scales[i] & MAGNITUDE];
        }
        return new Encoded(codes, table.log2Factor(), table.loss());
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

    static byte code(float rescaled) {
        float v = Fp16.round(Fp16.round(rescaled) * 128);
        return (byte) (Fp16.fromFloat(v) >> 7);
    }

    /** What a scale that is negative or NaN is refused with. */
    public static BadInputException refused(long index, byte scale) {
        return new BadInputException(String.format(
                Locale.ROOT,
                "Marlin scales: block scale %d is 0x%02x (%s), expected a number that is not negative",
                index,
                scale & 0xFF,
                E4M3.decode(scale)));
    }

    private static int[] counts(byte[] scales) {
        int[] counts = new int[ScaleTable.VALUES];
        for (int i = 0; i < scales.length; i++) {
            if (!(E4M3.decode(scales[i]) >= 0)) {
                throw refused(i, scales[i]);
            }
            counts[scales[i] & MAGNITUDE]++;
        }
        return counts;
    }
}
