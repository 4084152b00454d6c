package org.expertpool.pool.marlin;

import java.util.function.IntBinaryOperator;

/** The inputs of test vector TV4 (marlin-nvfp4 2.7) and the checksum used with it. */
final class TestVectors {
    private TestVectors() {}

    /** Codes by (k, n), packed as a checkpoint has them. */
    static byte[] pack(int columns, int depth, IntBinaryOperator code) {
        byte[] packed = new byte[columns * depth / 2];
        for (int n = 0; n < columns; n++) {
            for (int k = 0; k < depth; k += 2) {
                packed[(n * depth + k) / 2] = (byte) (code.applyAsInt(k, n) | (code.applyAsInt(k + 1, n) << 4));
            }
        }
        return packed;
    }

    static byte[] tv4Codes() {
        return pack(64, 64, (k, n) -> (7 * k + 5 * n + 3 * (n / 16) + k / 16) % 16);
    }

    /** E4M3 bytes [64, 4]: 0.5, 1, 2 or 4. */
    static byte[] tv4Scales() {
        byte[] scales = new byte[64 * 4];
        for (int n = 0; n < 64; n++) {
            for (int g = 0; g < 4; g++) {
                scales[4 * n + g] = (byte) (0x30 + 8 * ((g + n + n / 8) % 4));
            }
        }
        return scales;
    }

    static int checksum(int[] values) {
        int sum = 0;
        for (int i = 0; i < values.length; i++) {
            sum += (2 * i + 1) * values[i];
        }
        return sum;
    }

    static int checksum(byte[] values) {
        int[] wide = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            wide[i] = values[i] & 0xFF;
        }
        return checksum(wide);
    }
}
