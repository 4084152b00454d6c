package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.expertpool.pool.format.Bf16;
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
     * The activation after its first and after its second rounding: the examples of marlin-nvfp4 5.2, and three from
     * float64 where rounding once would give another result.
     */
    @ParameterizedTest
    @CsvSource({
        "1, 2, 0x3f3b, 0x3fbb",
        "-2, 3, 0xbe74, 0xbf37",
        "8, 0.5, 0x4100, 0x4080",
        "-100, 1, 0x8000, 0x8000",
        "1.5, 3, 0x3f9d, 0x406c",
        "0.5, 3, 0x3e9f, 0x3f6e",
        "-1, 7, 0xbe8a, 0xbff2",
    })
    void swigluRoundsTwice(float gate, float up, String first, String second) {
        assertThat(Bf16.fromFloat(Fp32Math.silu(gate)) & 0xFFFF).isEqualTo(Integer.decode(first));
        assertThat(Bf16.fromFloat(ExpertChain.swiglu(gate, up)) & 0xFFFF).isEqualTo(Integer.decode(second));
    }
}
