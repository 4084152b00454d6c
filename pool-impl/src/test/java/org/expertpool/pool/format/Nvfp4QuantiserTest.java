package org.expertpool.pool.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Nvfp4QuantiserTest {
    /** A tensor whose recipe comes out in whole numbers: global scale 1, block scales 448 and 2. */
    @Test
    void quantisesAHandComputedTensor() {
        float[] weights = new float[32];
        weights[0] = 2688;
        weights[1] = -448;
        weights[2] = 0.25f * 448;
        weights[3] = -0.1f * 448;
        weights[16] = 12;
        weights[17] = 5;
        weights[31] = -1;
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, 1, 32);
        assertThat(tensor.globalScale()).isEqualTo(1f);
        assertThat(tensor.scales()).containsExactly(0x7E, 0x40);
        byte[] codes = new byte[16];
        codes[0] = (byte) 0xA7; // 6 in the low nibble, -1 in the high one
        codes[1] = (byte) 0x80; // 0.25 is a tie and goes to 0; -0.1 rounds to zero and keeps its sign
        codes[8] = 0x47; // 6; 2.5 is a tie and goes to 2, code 4
        codes[15] = (byte) 0x90; // -0.5 in the high nibble
        assertThat(tensor.codes()).containsExactly(codes);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everyCodeIsTheNearestForItsBlockScale(long seed) {
        int n = 8;
        int k = 64;
        float[] weights = gaussian(n * k, seed);
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, n, k);
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < k; column++) {
                double unit = (double) E4M3.decode(tensor.scale(row, column)) * tensor.globalScale();
                double weight = weights[row * k + column];
                double error = Math.abs(E2M1.decode(tensor.code(row, column)) * unit - weight);
                double least = Double.MAX_VALUE;
                for (int code = 0; code < 16; code++) {
                    least = Math.min(least, Math.abs(E2M1.decode(code) * unit - weight));
                }
                // fp32 division may decide a near tie either way; beyond that the code must be the nearest.
                assertThat(error).isLessThanOrEqualTo(least + 1e-6 * unit);
            }
        }
    }

    @Test
    void blockScaleIsTheNearestToTheRecipeInFloat64() {
        float[] weights = gaussian(64 * 64, 4);
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, 64, 64);
        double globalScale = amax(weights, 0, weights.length) / 2688.0;
        assertThat(tensor.globalScale()).isEqualTo((float) globalScale);
        NearestEven oracle = new NearestEven(0x7F, bits -> E4M3.decode((byte) bits));
        int differ = 0;
        for (int block = 0; block < tensor.scales().length; block++) {
            double wanted = amax(weights, 16 * block, 16 * block + 16) / 6.0 / tensor.globalScale();
            differ += tensor.scales()[block] == oracle.code(wanted) ? 0 : 1;
        }
        assertThat(differ).isZero();
    }

    @Test
    void quantisingWhatWasDequantisedChangesNothing() {
        Nvfp4Tensor once = Nvfp4Quantiser.quantise(gaussian(64 * 128, 5), 64, 128);
        Nvfp4Tensor twice = Nvfp4Quantiser.quantise(once.dequantise(), 64, 128, once.globalScale());
        assertThat(twice.scales()).isEqualTo(once.scales());
        assertThat(twice.codes()).isEqualTo(once.codes());
    }

    @Test
    void zeroBlocksAndZeroTensorsStayZero() {
        float[] weights = new float[64];
        weights[5] = -0f;
        Nvfp4Tensor zero = Nvfp4Quantiser.quantise(weights, 2, 32);
        assertThat(zero.globalScale()).isEqualTo(1f);
        assertThat(zero.scales()).containsOnly(0);
        assertThat(zero.code(0, 5)).isEqualTo(8);
        assertThat(zero.dequantise()).containsOnly(0f, -0f);

        weights[40] = 1;
        Nvfp4Tensor one = Nvfp4Quantiser.quantise(weights, 2, 32);
        assertThat(one.scales()).containsExactly(0, 0, 0x7E, 0);
    }

    @Test
    void tinyBlocksKeepTheSmallestScale() {
        float[] weights = new float[48];
        weights[0] = 2688;
        weights[16] = 6 * 0x1p-12f;
        weights[32] = 0x1p-9f;
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, 1, 48);
        assertThat(tensor.scales()).containsExactly(0x7E, 0x01, 0x01);
        assertThat(tensor.code(0, 16)).as("0.75 units: a tie that goes to 1").isEqualTo(2);
        assertThat(tensor.code(0, 32)).as("one unit").isEqualTo(2);
    }

    @Test
    void aGlobalScaleThatIsTooSmallSaturates() {
        float[] weights = new float[16];
        weights[0] = -1e6f;
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, 1, 16, 1f);
        assertThat(tensor.scales()).containsExactly(0x7E);
        assertThat(tensor.dequantise()[0]).isEqualTo(-2688f);
    }

    @Test
    void smallestNumbersStayFinite() {
        float[] weights = new float[16];
        Arrays.fill(weights, Float.MIN_VALUE);
        Nvfp4Tensor tensor = Nvfp4Quantiser.quantise(weights, 1, 16);
        assertThat(tensor.globalScale()).isEqualTo(Float.MIN_NORMAL);
        for (float weight : tensor.dequantise()) {
            assertThat(weight).isFinite();
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void rejectsWhatIsNotFinite(float bad) {
        float[] weights = new float[32];
        weights[17] = bad;
        assertThatThrownBy(() -> Nvfp4Quantiser.quantise(weights, 1, 32))
                .isInstanceOf(BadInputException.class)
                .hasMessage("NVFP4 quantise: weight 17 is " + bad + ", expected finite");
    }

    @Test
    void rejectsWrongShapesAndScales() {
        assertThatThrownBy(() -> new Nvfp4Tensor(1, 24, new byte[12], new byte[1], 1f))
                .hasMessageContaining("k is 24");
        assertThatThrownBy(() -> new Nvfp4Tensor(0, 16, new byte[0], new byte[0], 1f))
                .hasMessageContaining("n is 0");
        assertThatThrownBy(() -> new Nvfp4Tensor(1, 16, new byte[7], new byte[1], 1f))
                .hasMessageContaining("codes has 7 bytes, expected 8");
        assertThatThrownBy(() -> new Nvfp4Tensor(1, 16, new byte[8], new byte[2], 1f))
                .hasMessageContaining("scales has 2 bytes, expected 1");
        assertThatThrownBy(() -> new Nvfp4Tensor(1 << 16, 1 << 16, new byte[8], new byte[1], 1f))
                .as("indices of weights are 32-bit")
                .isInstanceOf(BadInputException.class)
                .hasMessage("NVFP4 tensor: n * k is 4294967296, expected at most 2147483647");
        assertThatThrownBy(() -> Nvfp4Quantiser.quantise(new float[16], 1 << 16, 1 << 16))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("16 values, expected n * k = 4294967296");
        for (float scale : new float[] {-1, Float.NaN, Float.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> new Nvfp4Tensor(1, 16, new byte[8], new byte[1], scale))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("globalScale is " + scale);
        }
        // Times the smallest block scale, this one would be zero.
        float[] tiny = {Float.MIN_VALUE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        assertThatThrownBy(() -> Nvfp4Quantiser.quantise(tiny, 1, 16, Float.MIN_VALUE))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("globalScale is 1.4E-45, expected at least 2^-126");
        assertThatThrownBy(() -> Nvfp4Quantiser.quantise(new float[16], 1, 16, 0f))
                .hasMessageContaining("globalScale is 0.0");
        assertThatThrownBy(() -> Nvfp4Quantiser.quantise(new float[15], 1, 16)).hasMessageContaining("15 values");
    }

    private static float[] gaussian(int length, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] weights = new float[length];
        for (int i = 0; i < length; i++) {
            weights[i] = (float) (0.02 * random.nextGaussian());
        }
        return weights;
    }

    private static double amax(float[] weights, int from, int to) {
        double amax = 0;
        for (int i = from; i < to; i++) {
            amax = Math.max(amax, Math.abs(weights[i]));
        }
        return amax;
    }
}
