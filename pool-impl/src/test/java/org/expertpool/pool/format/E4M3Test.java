package org.expertpool.pool.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class E4M3Test {
    /** Value of a finite, non-negative byte from its fields, by the definition in marlin-nvfp4 1.2, in float64. */
    private static double value(int bits) {
        int exponent = bits >> 3;
        double mantissa = (bits & 7) / 8.0;
        return exponent == 0 ? mantissa * Math.pow(2, -6) : (1 + mantissa) * Math.pow(2, exponent - 7);
    }

    @Test
    void decodesAll256Bytes() {
        for (int bits = 0; bits < 0x7F; bits++) {
            assertThat((double) E4M3.decode((byte) bits)).as("0x%02x", bits).isEqualTo(value(bits));
            assertThat((double) E4M3.decode((byte) (bits | 0x80)))
                    .as("0x%02x", bits | 0x80)
                    .isEqualTo(-value(bits));
            assertThat(E4M3.isNaN((byte) bits)).isFalse();
        }
        for (int bits : new int[] {0x7F, 0xFF}) {
            assertThat(E4M3.decode((byte) bits)).isNaN();
            assertThat(E4M3.isNaN((byte) bits)).isTrue();
        }
    }

    @Test
    void knowsThePublishedLandmarks() {
        assertThat(E4M3.decode((byte) 0x7E)).isEqualTo(448f).isEqualTo(E4M3.MAX);
        assertThat(E4M3.decode((byte) 0x38)).isEqualTo(1f);
        assertThat(E4M3.decode((byte) 0x08)).isEqualTo(0x1p-6f);
        assertThat(E4M3.decode((byte) 0x01)).isEqualTo(0x1p-9f).isEqualTo(E4M3.MIN_POSITIVE);
        assertThat(Float.floatToRawIntBits(E4M3.decode((byte) 0x80))).isEqualTo(0x8000_0000);
    }

    @Test
    void encodesEveryValueBack() {
        for (int bits = 0; bits < 256; bits++) {
            assertThat(E4M3.encode(E4M3.decode((byte) bits)) & 0x7F).isEqualTo(bits & 0x7F);
            if (!E4M3.isNaN((byte) bits)) {
                assertThat(E4M3.encode(E4M3.decode((byte) bits))).isEqualTo((byte) bits);
            }
        }
    }

    @Test
    void encodesToTheNearestEven() {
        NearestEven oracle = new NearestEven(0x7F, E4M3Test::value);
        for (float magnitude : oracle.hardMagnitudes(100_000, 2)) {
            int expected = oracle.code(magnitude);
            assertThat(E4M3.encode(magnitude)).as("%s", magnitude).isEqualTo((byte) expected);
            assertThat(E4M3.encode(-magnitude)).as("-%s", magnitude).isEqualTo((byte) (0x80 | expected));
        }
    }

    @Test
    void tiesGoToTheEvenByte() {
        assertThat(E4M3.encode(0x1p-10f)).as("half of the smallest").isEqualTo((byte) 0);
        assertThat(E4M3.encode(0x3p-10f)).isEqualTo((byte) 2);
        assertThat(E4M3.encode(1 + 1 / 16f)).isEqualTo((byte) 0x38);
        assertThat(E4M3.encode(1 + 3 / 16f)).isEqualTo((byte) 0x3A);
        assertThat(E4M3.encode(1 + 15 / 16f)).as("carries into the exponent").isEqualTo((byte) 0x40);
    }

    @Test
    void saturatesAndKeepsNaN() {
        assertThat(E4M3.encode(464f)).isEqualTo((byte) 0x7E);
        assertThat(E4M3.encode(500f)).isEqualTo((byte) 0x7E);
        assertThat(E4M3.encode(Float.POSITIVE_INFINITY)).isEqualTo((byte) 0x7E);
        assertThat(E4M3.encode(Float.NEGATIVE_INFINITY)).isEqualTo((byte) 0xFE);
        assertThat(E4M3.encode(Float.NaN) & 0x7F).isEqualTo(0x7F);
    }
}
