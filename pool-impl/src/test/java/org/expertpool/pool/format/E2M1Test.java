package org.expertpool.pool.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class E2M1Test {
    /** The table of marlin-nvfp4 1.1, typed over. */
    private static final float[] VALUES = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

    @Test
    void decodesAllSixteenCodesAndEncodesThemBack() {
        for (int code = 0; code < 16; code++) {
            assertThat(Float.floatToIntBits(E2M1.decode(code))).isEqualTo(Float.floatToIntBits(VALUES[code]));
            assertThat(E2M1.encode(VALUES[code])).isEqualTo(code);
        }
    }

    @Test
    void decodesByTheFieldsOfTheCode() {
        for (int code = 0; code < 8; code++) {
            int exponent = code >> 1;
            int mantissa = code & 1;
            double value = exponent == 0 ? 0.5 * mantissa : (1 + 0.5 * mantissa) * Math.pow(2, exponent - 1);
            assertThat((double) E2M1.decode(code)).isEqualTo(value);
        }
    }

    @Test
    void encodesToTheNearestEven() {
        NearestEven oracle = new NearestEven(8, code -> VALUES[code]);
        for (float magnitude : oracle.hardMagnitudes(100_000, 1)) {
            int expected = oracle.code(magnitude);
            assertThat(E2M1.encode(magnitude)).as("%s", magnitude).isEqualTo(expected);
            assertThat(E2M1.encode(-magnitude)).as("-%s", magnitude).isEqualTo(8 | expected);
        }
    }

    @Test
    void tiesGoToTheEvenCode() {
        float[] ties = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5f};
        int[] codes = {0, 2, 2, 4, 4, 6, 6};
        for (int i = 0; i < ties.length; i++) {
            assertThat(E2M1.encode(ties[i])).as("%s", ties[i]).isEqualTo(codes[i]);
        }
    }

    @Test
    void saturatesAndHasNoNaN() {
        assertThat(E2M1.encode(1e30f)).isEqualTo(7);
        assertThat(E2M1.encode(Float.POSITIVE_INFINITY)).isEqualTo(7);
        assertThat(E2M1.encode(Float.NEGATIVE_INFINITY)).isEqualTo(15);
        assertThatThrownBy(() -> E2M1.encode(Float.NaN)).isInstanceOf(IllegalArgumentException.class);
    }
}
