package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.format.Fp16;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ExpandedMatrixTest {
    /** A down projection alone in a row: the matrix under test, its alpha, and its plain form. */
    private record Gemm(ExpandedMatrix matrix, float alpha, Nvfp4Tensor plain) {
        static Gemm of(Nvfp4Tensor plain, ActivationType type) {
            int n = plain.n();
            int k = plain.k();
            Nvfp4Tensor zero = new Nvfp4Tensor(k, n, new byte[n * k / 2], new byte[n * k / 16], 1f);
            ExpertRowLayout layout = new ExpertRowLayout(n, k);
            ByteBuffer row = ByteBuffer.allocate((int) layout.rowBytes());
            float alpha = ExpertPacker.of(type)
                    .pack(new PlainExpert(zero, zero, plain), row)
                    .down();
            row.order(ByteOrder.LITTLE_ENDIAN);
            return new Gemm(new ExpandedMatrix(row, layout.w2Offset(), layout.s2Offset(), n, k, type), alpha, plain);
        }

        float output(float[] activations, int column) {
            return matrix.accumulate(activations, column) * alpha;
        }

        double exact(float[] activations, int column) {
            double sum = 0;
            for (int k = 0; k < plain.k(); k++) {
                sum += (double) activations[k] * plain.blockScaled(column, k) * plain.globalScale();
            }
            return sum;
        }
    }

    /** TV4 of marlin-nvfp4 2.7: outputs rounded to bf16, to the bit; fp16 holds the exact ones. */
    @ParameterizedTest
    @EnumSource
    void tv4GivesThePublishedOutputs(ActivationType type) {
        byte[] codes = new byte[64 * 32];
        byte[] scales = new byte[64 * 4];
        for (int n = 0; n < 64; n++) {
            for (int k = 0; k < 64; k++) {
                int code = (7 * k + 5 * n + 3 * (n / 16) + k / 16) % 16;
                codes[32 * n + k / 2] |= (byte) (code << (4 * (k % 2)));
                scales[4 * n + k / 16] = (byte) (0x30 + 8 * ((k / 16 + n + n / 8) % 4));
            }
        }
        Gemm gemm = Gemm.of(new Nvfp4Tensor(64, 64, codes, scales, 0.25f), type);
        float[] a = new float[64];
        for (int k = 0; k < 64; k++) {
            a[k] = k % 5 - 2;
        }
        int[] bf16 = {0xc1a4, 0x4143, 0x4082, 0xc17b, 0x40fa, 0xc1dc, 0x418f, 0xc1b5};
        int[] fp16 = {0xcd1c, 0x4a18, 0x4410, 0xcbd8, 0x47d0, 0xcee4, 0x4c78, 0xcda8};
        for (int n = 0; n < bf16.length; n++) {
            assertThat(type.fromFloat(gemm.output(a, n)) & 0xFFFF)
                    .isEqualTo((type == ActivationType.FP16 ? fp16 : bf16)[n]);
        }
        assertThat(gemm.output(a, 60)).isEqualTo(21.5625f);
        assertThat(IntStream.range(0, 64).mapToDouble(n -> gemm.output(a, n)).sum())
                .isEqualTo(34.5);
    }

    /** Exact inputs (marlin-nvfp4 2.8): every sum equals float64 to the last bit, with one chunk and with several. */
    @ParameterizedTest
    @CsvSource({
        "64, 64, 1, BF16",
        "128, 640, 2, BF16",
        "64, 768, 3, BF16",
        "64, 2560, 4, BF16",
        "64, 64, 1, FP16",
        "128, 640, 2, FP16"
    })
    void exactInputsGiveExactSums(int n, int k, long seed, ActivationType type) {
        SplittableRandom random = new SplittableRandom(seed);
        Gemm gemm = Gemm.of(EngineFixtures.exactTensor(n, k, 0x1p-4f, random), type);
        for (int repeat = 0; repeat < 20; repeat++) {
            float[] a = new float[k];
            for (int i = 0; i < k; i++) {
                a[i] = random.nextInt(-8, 9);
            }
            for (int column = 0; column < n; column++) {
                assertThat((double) gemm.output(a, column)).isEqualTo(gemm.exact(a, column));
            }
        }
    }

    /** One GEMM on random inputs stays within 2e-3 of float64 in bf16, and within an eighth of that in fp16, its rounding included. */
    @ParameterizedTest
    @CsvSource({"128, 64, BF16", "64, 640, BF16", "128, 768, BF16", "64, 2560, BF16", "128, 64, FP16", "64, 640, FP16"})
    void randomInputsStayWithinTheBound(int n, int k, ActivationType type) {
        Nvfp4Tensor plain = new SyntheticExperts(11, 1, 1, new ExpertRowLayout(n, k))
                .plain(0, 0)
                .down();
        Gemm gemm = Gemm.of(plain, type);
        SplittableRandom random = new SplittableRandom(k);
        double[] actual = new double[16 * n];
        double[] reference = new double[16 * n];
        for (int m = 0; m < 16; m++) {
            float[] a = new float[k];
            for (int i = 0; i < k; i++) {
                a[i] = type.round((float) random.nextGaussian());
            }
            for (int column = 0; column < n; column++) {
                actual[m * n + column] = type.round(gemm.output(a, column));
                reference[m * n + column] = gemm.exact(a, column);
            }
        }
        assertThat(Float64Layer.relativeError(actual, reference))
                .isBetween(type == ActivationType.FP16 ? 1e-5 : 1e-4, type == ActivationType.FP16 ? 2.5e-4 : 2e-3);
    }

    /** Bug 4: an accumulator above the range of fp16 whose true result is small. */
    @ParameterizedTest
    @EnumSource
    void bug4AccumulatorIsNotRoundedBeforeAlpha(ActivationType type) {
        byte[] codes = new byte[64 * 32];
        byte[] scales = new byte[64 * 4];
        Arrays.fill(codes, (byte) 0x77);
        Arrays.fill(scales, (byte) 0x7E);
        Gemm gemm = Gemm.of(new Nvfp4Tensor(64, 64, codes, scales, 0x1p-12f), type);
        float[] a = new float[64];
        Arrays.fill(a, 64f);
        assertThat(gemm.output(a, 0)).isEqualTo(2688f);
        float fp16Accumulator = 64 * 64 * 6 * 448f / 128;
        assertThat(fp16Accumulator).isEqualTo(86_016f);
        assertThat(Fp16.round(fp16Accumulator))
                .as("what rounding first would give")
                .isInfinite();
    }

    /** Bug 1 through the GEMM: the smallest block scale beside 1.0 contributes its 2^-9. */
    @Test
    void bug1TinyScaleContributes() {
        byte[] codes = new byte[64 * 32];
        byte[] scales = new byte[64 * 4];
        Arrays.fill(codes, (byte) 0x22);
        Arrays.fill(scales, (byte) 0x38);
        scales[0] = 0x01;
        Gemm gemm = Gemm.of(new Nvfp4Tensor(64, 64, codes, scales, 1f), ActivationType.BF16);
        float[] a = new float[64];
        a[3] = 1;
        assertThat(gemm.output(a, 0)).isEqualTo(0x1p-9f);
        a[20] = 1;
        assertThat(gemm.output(a, 0)).isEqualTo(1 + 0x1p-9f);
    }

    /** Bug 17: a reduction length padded with zero weights to the next tile changes no bit. */
    @Test
    void bug17ZeroPaddingAlongKChangesNothing() {
        Nvfp4Tensor plain = new SyntheticExperts(5, 1, 1, new ExpertRowLayout(64, 64))
                .plain(0, 0)
                .down();
        byte[] codes = new byte[64 * 64];
        byte[] scales = new byte[64 * 8];
        for (int n = 0; n < 64; n++) {
            System.arraycopy(plain.codes(), 32 * n, codes, 64 * n, 32);
            System.arraycopy(plain.scales(), 4 * n, scales, 8 * n, 4);
        }
        Gemm narrow = Gemm.of(plain, ActivationType.BF16);
        Gemm padded = Gemm.of(new Nvfp4Tensor(64, 128, codes, scales, plain.globalScale()), ActivationType.BF16);
        SplittableRandom random = new SplittableRandom(17);
        float[] a = new float[128];
        for (int i = 0; i < 128; i++) {
            a[i] = ActivationType.BF16.round((float) random.nextGaussian());
        }
        for (int n = 0; n < 64; n++) {
            assertThat(padded.output(a, n)).isEqualTo(narrow.output(a, n));
        }
    }
}
