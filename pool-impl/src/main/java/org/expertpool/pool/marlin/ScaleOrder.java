package org.expertpool.pool.marlin;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;

/**
 * Reorders block scale bytes between checkpoint order {@code [n, k/16]} and Marlin order {@code [k/16, n]}
 * (marlin-nvfp4 2.3), whatever the bytes encode.
 */
public final class ScaleOrder {
    private static final int CHUNK = 64;
    private static final int SMALLEST_K = 32;

    private ScaleOrder() {}

    /**
     * Checkpoint order to Marlin order.
     *
     * @param n output rows, a multiple of 64
     * @param k reduction length, a multiple of 16, at least 32: a single group has another order upstream
     */
    public static byte[] toMarlin(byte[] scales, int n, int k) {
        int groups = groups(scales, n, k);
        byte[] marlin = new byte[scales.length];
        for (int row = 0; row < n; row++) {
            int position = position(row);
            for (int group = 0; group < groups; group++) {
                marlin[group * n + position] = scales[row * groups + group];
            }
        }
        return marlin;
    }

    /** The inverse of {@link #toMarlin}. */
    public static byte[] fromMarlin(byte[] marlin, int n, int k) {
        int groups = groups(marlin, n, k);
        byte[] scales = new byte[marlin.length];
        for (int row = 0; row < n; row++) {
            int position = position(row);
            for (int group = 0; group < groups; group++) {
                scales[row * groups + group] = marlin[group * n + position];
            }
        }
        return scales;
    }

    /** Where output row n stands in a group's line of Marlin scales. */
    public static int position(int n) {
        return n / CHUNK * CHUNK + 8 * (n % 8) + sigma(n % CHUNK / 8);
    }

    /** Swaps the middle two of every four, as even and odd bytes are expanded by different instructions. */
    private static int sigma(int v) {
        return (v & 4) | ((v & 1) << 1) | ((v >> 1) & 1);
    }

    private static int groups(byte[] scales, int n, int k) {
        if (n < CHUNK || n % CHUNK != 0) {
            throw new BadInputException("Marlin scales: n is " + n + ", expected a positive multiple of " + CHUNK);
        }
        if (k < SMALLEST_K || k % Nvfp4Tensor.BLOCK != 0) {
            throw new BadInputException(
                    "Marlin scales: k is " + k + ", expected a multiple of " + Nvfp4Tensor.BLOCK + " of at least 32");
        }
        long expected = (long) n * k / Nvfp4Tensor.BLOCK;
        if (scales.length != expected) {
            throw new BadInputException(
                    "Marlin scales: got " + scales.length + " bytes, expected n * k / 16 = " + expected);
        }
        return k / Nvfp4Tensor.BLOCK;
    }
}
