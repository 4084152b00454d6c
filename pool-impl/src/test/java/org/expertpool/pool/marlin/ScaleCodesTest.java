package org.expertpool.pool.marlin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.expertpool.pool.marlin.ScaleFactorRule.FROM_LARGEST;
import static org.expertpool.pool.marlin.ScaleFactorRule.FROM_SMALLEST;

import java.util.Arrays;
import java.util.HexFormat;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.E4M3;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScaleCodesTest {
    private static final byte LARGEST = 0x7E;

    /** With 448 present the newer rule's factor is 1; normal bytes move by 0x78 (marlin-nvfp4 2.4). */
    @Test
    void normalBytesFollowTheClosedForm() {
        for (int bits = 0x08; bits <= 0x7E; bits++) {
            byte[] codes = ScaleCodes.encode(new byte[] {LARGEST, (byte) bits}, FROM_LARGEST, ActivationType.BF16)
                    .codes();
            assertThat(codes[1]).as("0x%02x", bits).isEqualTo((byte) (bits + 0x78));
            assertThat(ScaleCodes.decode(codes[1])).isEqualTo(E4M3.decode((byte) bits));
        }
    }

    @ParameterizedTest
    @CsvSource({"0x38, 0xB0", "0x7E, 0xF6", "0x08, 0x80", "0x01, 0x68", "0x02, 0x70", "0x04, 0x78", "0x07, 0x7E"})
    void publishedCodesWithoutAFactor(String scale, String code) {
        // For fp16 the factor is 1, and the older rule zeroes nothing: the bare code.
        byte[] codes = encode(FROM_SMALLEST, ActivationType.FP16, Integer.decode(scale))
                .codes();
        assertThat(codes[0] & 0xFF).isEqualTo(Integer.decode(code));
    }

    /** The table of marlin-nvfp4 2.5, which is also bug 2: the policy for scales that 16 binades do not hold. */
    @ParameterizedTest
    @CsvSource({
        "0x7E, 0x01, FROM_SMALLEST, 3, 64, 0x1p-9, 0, 1",
        "0x7E, 0x01, FROM_LARGEST, 0, 448, 0, 1, 0",
        "0x38, 0x01, FROM_SMALLEST, 3, 1, 0x1p-9, 0, 0",
        "0x38, 0x01, FROM_LARGEST, 8, 1, 0x1p-9, 0, 0",
        "0x08, 0x03, FROM_SMALLEST, 2, 0x1p-6, 0x3p-9, 0, 0",
        "0x08, 0x03, FROM_LARGEST, 14, 0x1p-6, 0x3p-9, 0, 0",
    })
    void bug2BothRulesOnThePublishedPairs(
            String large,
            String small,
            ScaleFactorRule rule,
            int log2Factor,
            float largeDecoded,
            float smallDecoded,
            int zeroed,
            int changed) {
        ScaleCodes.Encoded encoded = encode(rule, ActivationType.BF16, Integer.decode(large), Integer.decode(small));
        assertThat(encoded.log2Factor()).isEqualTo(log2Factor);
        assertThat(Math.scalb(expandToBf16(encoded.codes()[0]), -log2Factor)).isEqualTo(largeDecoded);
        assertThat(Math.scalb(expandToBf16(encoded.codes()[1]), -log2Factor)).isEqualTo(smallDecoded);
        assertThat(encoded.loss().zeroed()).isEqualTo(zeroed);
        assertThat(encoded.loss().changed()).isEqualTo(changed);
    }

    /** Bug 1: a checkpoint with global scale 1 and a tiny block scale; its 2^-9 must not vanish in bf16. */
    @ParameterizedTest
    @EnumSource(ScaleFactorRule.class)
    void bug1TinyScalesBesideOneKeepTheirValue(ScaleFactorRule rule) {
        ScaleCodes.Encoded encoded = encode(rule, ActivationType.BF16, 0x38, 0x01, 0x38);
        ScaleCodes.requireExactInBf16(encoded.codes());
        assertThat(Math.scalb(expandToBf16(encoded.codes()[1]), -encoded.log2Factor()))
                .isEqualTo(0x1p-9f);
        assertThat(encoded.loss().relativeError()).isZero();
    }

    /** Bug 3: raw E4M3 bytes taken for codes come out 2^112 too small; the checker flags every one of them. */
    @Test
    void bug3RawBytesAreFlagged() {
        for (int raw = 0x01; raw <= 0x7F; raw++) {
            byte[] codes = {(byte) 0xB0, 0, (byte) raw};
            assertThatThrownBy(() -> ScaleCodes.requireExactInBf16(codes))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining(String.format("code 2 is 0x%02x", codes[2]));
        }
        byte[] every = new byte[129];
        for (int code = 0x80; code <= 0xFF; code++) {
            every[code - 0x80] = (byte) code;
        }
        ScaleCodes.requireExactInBf16(every);
    }

    /** Bug 28: scale bytes 0x81 to 0xFF and both NaNs are refused; minus zero passes as zero. */
    @ParameterizedTest
    @EnumSource(ScaleFactorRule.class)
    void bug28NegativeAndNaNScalesAreRefused(ScaleFactorRule rule) {
        for (int bits = 0x81; bits <= 0xFF; bits++) {
            assertRefused(rule, bits);
        }
        assertRefused(rule, 0x7F);
        ScaleCodes.Encoded minusZero = encode(rule, ActivationType.BF16, 0x38, 0x80);
        assertThat(minusZero.codes()[1]).isZero();
        assertThat(minusZero.loss().zeroed()).isZero();
    }

    private static void assertRefused(ScaleFactorRule rule, int bits) {
        for (ActivationType type : ActivationType.values()) {
            assertThatThrownBy(() -> encode(rule, type, 0x38, bits))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining(String.format("block scale 1 is 0x%02x", bits));
        }
    }

    @ParameterizedTest
    @EnumSource(ScaleFactorRule.class)
    void factorIsOneWhereNoScaleIsPositive(ScaleFactorRule rule) {
        ScaleCodes.Encoded encoded = encode(rule, ActivationType.BF16, 0x00, 0x80, 0x00);
        assertThat(encoded.log2Factor()).isZero();
        assertThat(encoded.codes()).containsOnly(0);
        assertThat(encoded.loss()).isEqualTo(new ScaleLoss(3, 0, 0, 0, 0));
    }

    /** Both rules by search for the factor that marlin-nvfp4 2.5 describes, over every pair of positive scales. */
    @Test
    void rulesFollowTheirDefinitionForEveryPair() {
        for (int low = 0x01; low <= 0x7E; low++) {
            for (int high = low; high <= 0x7E; high++) {
                double smallest = E4M3.decode((byte) low);
                double largest = E4M3.decode((byte) high);
                int newer = 0;
                while (largest * (1 << (newer + 1)) <= 448) {
                    newer++;
                }
                int older = 0;
                while (smallest * (1 << older) * 128 < 2) {
                    older++;
                }
                assertRule(FROM_LARGEST, low, high, newer, smallest * (1 << newer) * 128 < 2);
                assertRule(FROM_SMALLEST, low, high, older, false);
            }
        }
    }

    private static void assertRule(ScaleFactorRule rule, int low, int high, int log2Factor, boolean zeroed) {
        ScaleCodes.Encoded encoded = encode(rule, ActivationType.BF16, low, high);
        String pair = String.format("%s of 0x%02x and 0x%02x", rule, low, high);
        assertThat(encoded.log2Factor()).as(pair).isEqualTo(log2Factor);
        assertThat(encoded.codes()[0] == 0).as(pair).isEqualTo(zeroed);
        ScaleCodes.requireExactInBf16(encoded.codes());
        if (encoded.loss().relativeError() == 0) {
            assertThat(Math.scalb(expandToBf16(encoded.codes()[0]), -encoded.log2Factor()))
                    .isEqualTo(E4M3.decode((byte) low));
            assertThat(Math.scalb(expandToBf16(encoded.codes()[1]), -encoded.log2Factor()))
                    .isEqualTo(E4M3.decode((byte) high));
        } else {
            assertThat(encoded.loss().zeroed() + encoded.loss().changed())
                    .as(pair)
                    .isPositive();
        }
    }

    @Test
    void lossCountsWhatWasZeroed() {
        ScaleCodes.Encoded encoded = encode(FROM_LARGEST, ActivationType.BF16, 0x7E, 0x01, 0x07, 0x08);
        assertThat(encoded.loss().blocks()).isEqualTo(4);
        assertThat(encoded.loss().zeroed()).isEqualTo(2);
        double lost = Math.pow(2, -18) + 49 * Math.pow(2, -18);
        double all = 448.0 * 448 + lost + Math.pow(2, -12);
        assertThat(encoded.loss().relativeError()).isEqualTo(Math.sqrt(lost / all));
        ScaleLoss twice = encoded.loss().plus(encoded.loss());
        assertThat(twice.zeroed()).isEqualTo(4);
        assertThat(twice.relativeError()).isEqualTo(encoded.loss().relativeError());
        assertThat(ScaleLoss.NONE.plus(encoded.loss())).isEqualTo(encoded.loss());
    }

    /** TV4 of marlin-nvfp4 2.7: codes in Marlin order with and without a factor, checksums, alphas. */
    @Test
    void tv4GivesThePublishedScales() {
        byte[] scales = TestVectors.tv4Scales();
        ScaleCodes.Encoded older = ScaleCodes.encode(scales, FROM_SMALLEST, ActivationType.BF16);
        byte[] marlin = ScaleOrder.toMarlin(older.codes(), 64, 64);
        assertThat(older.log2Factor()).isZero();
        assertThat(Arrays.copyOf(marlin, 16)).isEqualTo(HexFormat.of().parseHex("a8b8b0c0a8b8b0c0b0c0b8a8b0c0b8a8"));
        assertThat(Arrays.copyOfRange(marlin, 3 * 64 + 48, 3 * 64 + 64))
                .isEqualTo(HexFormat.of().parseHex("b0c0b8a8b0c0b8a8b8a8c0b0b8a8c0b0"));
        assertThat(TestVectors.checksum(marlin)).isEqualTo(0x00b40000);

        ScaleCodes.Encoded newer = ScaleCodes.encode(scales, FROM_LARGEST, ActivationType.BF16);
        byte[] lifted = ScaleOrder.toMarlin(newer.codes(), 64, 64);
        assertThat(newer.log2Factor()).isEqualTo(6);
        for (int i = 0; i < lifted.length; i++) {
            assertThat(lifted[i]).isEqualTo((byte) (marlin[i] + 0x30));
        }
        assertThat(TestVectors.checksum(lifted)).isEqualTo(0x00e40000);

        assertThat(Float.floatToRawIntBits(ActivationType.BF16.alpha(0.25f, 0))).isEqualTo(0x7a000000);
        assertThat(Float.floatToRawIntBits(ActivationType.BF16.alpha(0.25f, 6))).isEqualTo(0x77000000);
        assertThat(ActivationType.FP16.alpha(0.25f, 0)).isEqualTo(32f);
    }

    /** marlin-nvfp4 2.6: bf16 alpha leaves fp32 from globalScale / sf = 2^9 on. */
    @ParameterizedTest
    @ValueSource(floats = {512f, 1e30f, Float.NaN, Float.POSITIVE_INFINITY})
    void alphaRefusesToOverflow(float globalScale) {
        assertThatThrownBy(() -> ActivationType.BF16.alpha(globalScale, 0))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("alpha of global scale " + globalScale);
    }

    @Test
    void alphaIsExactUpToItsLimits() {
        assertThat(ActivationType.BF16.alpha(Math.nextDown(512f), 0)).isFinite();
        assertThat(ActivationType.BF16.alpha(512f, 1)).isEqualTo(0x1p127f);
        assertThat(ActivationType.BF16.alpha(0f, 3)).isZero();
    }

    private static ScaleCodes.Encoded encode(ScaleFactorRule rule, ActivationType type, int... scales) {
        byte[] bytes = new byte[scales.length];
        for (int i = 0; i < scales.length; i++) {
            bytes[i] = (byte) scales[i];
        }
        return ScaleCodes.encode(bytes, rule, type);
    }

    /** A code as the GPU's bf16 expansion reads it, without its factor of 128. */
    private static float expandToBf16(byte code) {
        return RegisterExpansion.bf16Low(RegisterExpansion.scalesToBf16(code & 0xFF, true)) / 128;
    }
}
