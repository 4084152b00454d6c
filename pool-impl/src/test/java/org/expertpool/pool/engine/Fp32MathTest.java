package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Fp32MathTest {
    @Test
    void expIsWithinTwoUnitsInTheLastPlaceOfFloat64() {
        double worst = 0;
        for (float x = -103.9f; x < 88.7f; x += 0.000731f) {
            double exact = Math.exp(x);
            worst = Math.max(worst, Math.abs(Fp32Math.exp(x) - exact) / Math.ulp((float) exact));
        }
        assertThat(worst).isBetween(0.4, 2.0);
    }

    @Test
    void expAtItsEdges() {
        assertThat(Fp32Math.exp(0f)).isEqualTo(1f);
        assertThat(Fp32Math.exp(-0f)).isEqualTo(1f);
        assertThat(Fp32Math.exp(Float.POSITIVE_INFINITY)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp32Math.exp(88.73f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp32Math.exp(89.01f)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(Fp32Math.exp(Float.NEGATIVE_INFINITY)).isZero();
        assertThat(Fp32Math.exp(-104.01f)).isZero();
        assertThat(Fp32Math.exp(-103.9f)).as("the smallest subnormal").isEqualTo(Float.MIN_VALUE);
        assertThat(Fp32Math.exp(Float.NaN)).isNaN();
    }

    @Test
    void siluFollowsFloat64() {
        for (float x = -80f; x < 80f; x += 0.0137f) {
            double exact = x / (1 + Math.exp(-(double) x));
            assertThat(Math.abs(Fp32Math.silu(x) - exact)).as("%s", x).isLessThanOrEqualTo(3e-7 * Math.abs(exact));
        }
        assertThat(Float.floatToRawIntBits(Fp32Math.silu(-100f)))
                .as("minus zero")
                .isEqualTo(0x8000_0000);
        assertThat(Fp32Math.silu(100f)).isEqualTo(100f);
        assertThat(Fp32Math.silu(Float.NaN)).isNaN();
    }

    /**
     * The activation after its first and after its second rounding: the examples of marlin-nvfp4 5.2, and others
     * from float64, some of them where rounding once would give another result.
     */
    @ParameterizedTest
    @CsvSource({
        "BF16, 1, 2, 0x3f3b, 0x3fbb",
        "BF16, -2, 3, 0xbe74, 0xbf37",
        "BF16, 8, 0.5, 0x4100, 0x4080",
        "BF16, -100, 1, 0x8000, 0x8000",
        "BF16, 1.5, 3, 0x3f9d, 0x406c",
        "BF16, 0.5, 3, 0x3e9f, 0x3f6e",
        "BF16, -1, 7, 0xbe8a, 0xbff2",
        "FP16, 1, 2, 0x39d9, 0x3dd9",
        "FP16, -2, 3, 0xb3a1, 0xb9b9",
        "FP16, 8, 0.5, 0x47ff, 0x43ff",
        "FP16, -100, 1, 0x8000, 0x8000",
        "FP16, 7, 3, 0x46fe, 0x4d3e",
        "FP16, 0.25, 7, 0x307f, 0x3bde",
        "FP16, Infinity, -1, 0x7c00, 0xfc00",
        "BF16, -Infinity, 1, 0x7fff, 0x7fff",
    })
    void swigluRoundsTwice(ActivationType type, float gate, float up, String first, String second) {
        assertThat(type.fromFloat(Fp32Math.silu(gate)) & 0xFFFF).isEqualTo(Integer.decode(first));
        assertThat(type.fromFloat(ExpertChain.swiglu(gate, up, type)) & 0xFFFF).isEqualTo(Integer.decode(second));
    }
}
