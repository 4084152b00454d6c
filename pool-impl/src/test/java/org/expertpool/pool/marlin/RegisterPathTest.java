package org.expertpool.pool.marlin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.format.E2M1;
import org.expertpool.pool.format.Fp16;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Marlin words and codes taken through the kernel's registers must give the plain weights. */
class RegisterPathTest {
    /** The patterns that marlin-nvfp4 2.2 lists for codes 0 to 7, and their negatives. */
    @Test
    void codesExpandToThePublishedPatterns() {
        int[] bf16 = {0x0000, 0x0040, 0x0080, 0x00c0, 0x0100, 0x0140, 0x0180, 0x01c0};
        int[] fp16 = {0x0000, 0x0200, 0x0400, 0x0600, 0x0800, 0x0a00, 0x0c00, 0x0e00};
        for (int code = 0; code < 16; code++) {
            int sign = code < 8 ? 0 : 0x8000;
            int word = (code << 12) | ((15 - code) << 28) | 0x0FFF_0FFF;
            assertThat(RegisterExpansion.codesToBf16(word) & 0xFFFF).isEqualTo(sign | bf16[code & 7]);
            assertThat(RegisterExpansion.codesToFp16(word) & 0xFFFF).isEqualTo(sign | fp16[code & 7]);
            assertThat(RegisterExpansion.bf16High(RegisterExpansion.codesToBf16(word)))
                    .isEqualTo(E2M1.decode(15 - code) * 0x1p-126f);
            assertThat(RegisterExpansion.fp16High(RegisterExpansion.codesToFp16(word)))
                    .isEqualTo(E2M1.decode(15 - code) * 0x1p-14f);
        }
    }

    @Test
    void scaleCodesExpandExactly() {
        for (int code = 0; code < 256; code++) {
            int word = code | (code << 8) | ((255 - code) << 16) | ((255 - code) << 24);
            for (boolean even : new boolean[] {true, false}) {
                float fp16 = RegisterExpansion.fp16Low(RegisterExpansion.scalesToFp16(word, even));
                if (code < 0xF8) {
                    assertThat(fp16).isEqualTo(128 * ScaleCodes.decode((byte) code));
                }
                if (code == 0 || code >= 0x80) {
                    float bf16 = RegisterExpansion.bf16Low(RegisterExpansion.scalesToBf16(word, even));
                    assertThat(bf16).isEqualTo(128 * ScaleCodes.decode((byte) code));
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"64, 32, 1", "128, 32, 2", "192, 48, 3", "64, 160, 4"})
    void wordsAndCodesGiveThePlainWeights(int n, int k, long seed) {
        Nvfp4Tensor tensor = random(n, k, seed);
        assertThat(registerWeights(tensor, ActivationType.BF16)).isEqualTo(tensor.dequantise());
        assertThat(registerWeights(tensor, ActivationType.FP16)).isEqualTo(tensor.dequantise());
    }

    /** TV4 of marlin-nvfp4 2.7, through the registers to the exact sums. */
    @Test
    void tv4GivesThePublishedSums() {
        Nvfp4Tensor tensor = new Nvfp4Tensor(64, 64, TestVectors.tv4Codes(), TestVectors.tv4Scales(), 0.25f);
        float[] weights = registerWeights(tensor, ActivationType.BF16);
        double[] y = IntStream.range(0, 64)
                .mapToDouble(n -> IntStream.range(0, 64)
                        .mapToDouble(k -> (k % 5 - 2) * (double) weights[64 * n + k])
                        .sum())
                .toArray();
        assertThat(y).startsWith(-20.4375, 12.1875, 4.0625, -15.6875, 7.8125, -27.5625, 17.875, -22.625);
        assertThat(y).endsWith(21.5625, 15.3125, -9.3125, -14.6875);
        assertThat(IntStream.range(0, 64).mapToDouble(n -> y[n]).sum()).isEqualTo(34.5);
    }

    /** Random codes; scales within eight binades, so that no rule has to give anything up; a power of two as global. */
    private static Nvfp4Tensor random(int n, int k, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] codes = new byte[n * k / 2];
        random.nextBytes(codes);
        byte[] scales = new byte[n * k / 16];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (byte) (random.nextInt(16) == 0 ? 0 : random.nextInt(0x20, 0x60));
        }
        return new Nvfp4Tensor(n, k, codes, scales, 0x1p-5f);
    }

    /** Plain weights [n, k] as a warp computes them: expand, multiply pairs, and alpha at the end. */
    private static float[] registerWeights(Nvfp4Tensor tensor, ActivationType type) {
        int n = tensor.n();
        ScaleCodes.Encoded scales = ScaleCodes.encode(tensor.scales(), ScaleFactorRule.FROM_LARGEST, type);
        int[] words = WeightRepack.repack(tensor.codes(), n, tensor.k());
        byte[] marlin = ScaleOrder.toMarlin(scales.codes(), n, tensor.k());
        float alpha = type.alpha(tensor.globalScale(), scales.log2Factor());
        float[] weights = new float[n * tensor.k()];
        for (int word = 0; word < words.length; word++) {
            int tileRow = word / (2 * n);
            int chunk = word % (2 * n) / 128;
            int lane = word % 128 / 4;
            int subTile = word % 4;
            int scaleWord = littleEndian(marlin, tileRow * n + 64 * chunk + 8 * (lane / 4) + 4 * (subTile / 2));
            for (int pair = 0; pair < 4; pair++) {
                int column = 64 * chunk + 16 * subTile + lane / 4 + 8 * (pair / 2);
                int row = 16 * tileRow + 2 * (lane % 4) + 8 * (pair % 2);
                boolean even = subTile % 2 == 0;
                float[] values = multiply(words[word] << (12 - 4 * pair), scaleWord, even, pair / 2 == 1, type);
                weights[column * tensor.k() + row] = values[0] * alpha;
                weights[column * tensor.k() + row + 1] = values[1] * alpha;
            }
        }
        return weights;
    }

    /** Two scaled weights in the activation type. Columns c take the low scale of the pair, columns c + 8 the high. */
    private static float[] multiply(int word, int scaleWord, boolean even, boolean right, ActivationType type) {
        if (type == ActivationType.BF16) {
            int codes = RegisterExpansion.codesToBf16(word);
            int pair = RegisterExpansion.scalesToBf16(scaleWord, even);
            float scale = right ? RegisterExpansion.bf16High(pair) : RegisterExpansion.bf16Low(pair);
            return new float[] {
                Bf16.round(RegisterExpansion.bf16Low(codes) * scale),
                Bf16.round(RegisterExpansion.bf16High(codes) * scale)
            };
        }
        int codes = RegisterExpansion.codesToFp16(word);
        int pair = RegisterExpansion.scalesToFp16(scaleWord, even);
        float scale = right ? RegisterExpansion.fp16High(pair) : RegisterExpansion.fp16Low(pair);
        return new float[] {
            Fp16.round(RegisterExpansion.fp16Low(codes) * scale), Fp16.round(RegisterExpansion.fp16High(codes) * scale)
        };
    }

    private static int littleEndian(byte[] bytes, int at) {
        return (bytes[at] & 0xFF)
                | ((bytes[at + 1] & 0xFF) << 8)
                | ((bytes[at + 2] & 0xFF) << 16)
                | ((bytes[at + 3] & 0xFF) << 24);
    }
}
