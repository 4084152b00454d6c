package org.expertpool.pool.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class HalfFormatsTest {
    private static final int BF16_INFINITY = 0x7F80;
    private static final int FP16_INFINITY = 0x7C00;

    private static double value(int bits, int exponentBits, int mantissaBits) {
        int bias = (1 << (exponentBits - 1)) - 1;
        int exponent = bits >> mantissaBits;
        double mantissa = (bits & ((1 << mantissaBits) - 1)) / Math.pow(2, mantissaBits);
        return exponent == 0 ? mantissa * Math.pow(2, 1 - bias) : (1 + mantissa) * Math.pow(2, exponent - bias);
    }

    @Test
    void bf16DecodesEveryPatternByItsFields() {
        for (int bits = 0; bits < BF16_INFINITY; bits++) {
            assertThat((double) Bf16.toFloat((short) bits)).isEqualTo(value(bits, 8, 7));
            assertThat((double) Bf16.toFloat((short) (bits | 0x8000))).isEqualTo(-value(bits, 8, 7));
        }
        assertThat(Bf16.toFloat((short) BF16_INFINITY)).isEqualTo(Float.POSITIVE_INFINITY);
    }

    @Test
    void fp16DecodesEveryPatternByItsFields() {
        for (int bits = 0; bits < FP16_INFINITY; bits++) {
            assertThat((double) Fp16.toFloat((short) bits)).isEqualTo(value(bits, 5, 10));
            assertThat((double) Fp16.toFloat((short) (bits | 0x8000))).isEqualTo(-value(bits, 5, 10));
        }
        assertThat(Fp16.toFloat((short) FP16_INFINITY)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp16.toFloat((short) 0xFC00)).isEqualTo(Float.NEGATIVE_INFINITY);
        assertThat(Fp16.toFloat((short) 0x7E00)).isNaN();
    }

    /** Between every two neighbours: the midpoint goes to the even one, its fp32 neighbours to the nearer one. */
    @Test
    void roundToTheNearestEvenBetweenAllNeighbours() {
        for (int bits = 0; bits < BF16_INFINITY; bits++) {
            // The midpoint above the largest value is where rounding passes to infinity, as if there were a next value.
            double above = bits + 1 == BF16_INFINITY ? Math.pow(2, 128) : value(bits + 1, 8, 7);
            assertRounds((float) ((value(bits, 8, 7) + above) / 2), bits, bits + 1, true);
        }
        for (int bits = 0; bits < FP16_INFINITY; bits++) {
            double above = bits + 1 == FP16_INFINITY ? 65_536 : value(bits + 1, 5, 10);
            assertRounds((float) ((value(bits, 5, 10) + above) / 2), bits, bits + 1, false);
        }
    }

    private static void assertRounds(float middle, int below, int above, boolean bf16) {
        int even = below % 2 == 0 ? below : above;
        assertEncodes(middle, even, bf16);
        assertEncodes(Math.nextDown(middle), below, bf16);
        assertEncodes(Math.nextUp(middle), above, bf16);
    }

    private static void assertEncodes(float value, int bits, boolean bf16) {
        short positive = bf16 ? Bf16.fromFloat(value) : Fp16.fromFloat(value);
        short negative = bf16 ? Bf16.fromFloat(-value) : Fp16.fromFloat(-value);
        if ((positive & 0xFFFF) != bits || (negative & 0xFFFF) != (bits | 0x8000)) {
            throw new AssertionError(new BigDecimal(value) + " -> " + Integer.toHexString(positive & 0xFFFF) + " and "
                    + Integer.toHexString(negative & 0xFFFF) + ", expected " + Integer.toHexString(bits));
        }
    }

    @Test
    void everyNaNBecomesTheOneThatDevicesWrite() {
        for (int nan : new int[] {0x7F80_0001, 0x7FC0_0000, 0xFFC0_0000, 0xFFFF_FFFF}) {
            assertThat(Bf16.fromFloat(Float.intBitsToFloat(nan))).isEqualTo((short) 0x7FFF);
            assertThat(Fp16.fromFloat(Float.intBitsToFloat(nan))).isEqualTo((short) 0x7FFF);
        }
        assertThat(Bf16.round(Float.NaN)).isNaN();
        assertThat(Fp16.round(Float.NaN)).isNaN();
    }

    @Test
    void overflowToInfinity() {
        assertThat(Bf16.round(Float.MAX_VALUE)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp16.round(65_519.99f)).isEqualTo(65_504f);
        assertThat(Fp16.round(65_520f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp16.round(100_000f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp16.round(1e30f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp16.round(Float.NEGATIVE_INFINITY)).isEqualTo(Float.NEGATIVE_INFINITY);
    }

    /** The rounded values of marlin-nvfp4 2.7, TV4; the first is an exact tie. */
    @Test
    void bf16MatchesThePublishedRoundings() {
        double[] values = {-20.4375, 12.1875, 4.0625, -15.6875, 7.8125, -27.5625, 17.875, -22.625};
        int[] bits = {0xc1a4, 0x4143, 0x4082, 0xc17b, 0x40fa, 0xc1dc, 0x418f, 0xc1b5};
        for (int i = 0; i < bits.length; i++) {
            assertThat(Bf16.fromFloat((float) values[i]) & 0xFFFF).isEqualTo(bits[i]);
        }
    }
}
