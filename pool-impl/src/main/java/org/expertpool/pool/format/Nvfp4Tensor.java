package org.expertpool.pool.format;

import org.expertpool.pool.BadInputException;

/**
 * A weight matrix in NVFP4 checkpoint form (marlin-nvfp4 1.3, 1.4): {@code w[n,k] = E2M1(code[n,k]) *
 * E4M3(scale[n, k div 16]) * globalScale}.
 *
 * <p>Bytes are taken as they are; what a consumer does not accept in them, it rejects (see the Marlin scale codes).
 */
public final class Nvfp4Tensor {
    /** Values along K that share one block scale. */
    public static final int BLOCK = 16;

    private final int n;
    private final int k;
    private final byte[] codes;
    private final byte[] scales;
    private final float globalScale;

    /**
     * @param n output rows
     * @param k reduction length, a multiple of 16
     * @param codes u8 {@code [n, k/2]}: byte i of a row holds k = 2i in its low and k = 2i+1 in its high nibble; kept,
     *     not copied
     * @param scales E4M3 {@code [n, k/16]}; kept, not copied
     * @param globalScale finite, not negative; some exporters write 0 for a tensor of zeros
     */
    public Nvfp4Tensor(int n, int k, byte[] codes, byte[] scales, float globalScale) {
        require(n > 0, "n", n, "at least 1");
        require(k > 0 && k % BLOCK == 0, "k", k, "a positive multiple of " + BLOCK);
        if ((long) n * k > Integer.MAX_VALUE) {
            throw new BadInputException(
                    "NVFP4 tensor: n * k is " + (long) n * k + ", expected at most " + Integer.MAX_VALUE);
        }
        requireLength("codes", codes.length, (long) n * k / 2);
        requireLength("scales", scales.length, (long) n * k / BLOCK);
        if (!(globalScale >= 0) || Float.isInfinite(globalScale)) {
            throw new BadInputException(
                    "NVFP4 tensor: globalScale is " + globalScale + ", expected a finite number that is not negative");
        }
        this.n = n;
        this.k = k;
        this.codes = codes;
        this.scales = scales;
        this.globalScale = globalScale;
    }

    public int n() {
        return n;
    }

    public int k() {
        return k;
    }

    /** The packed codes themselves, u8 {@code [n, k/2]}; not a copy. */
    public byte[] codes() {
        return codes;
    }

    /** The block scales themselves, E4M3 {@code [n, k/16]}; not a copy. */
    public byte[] scales() {
        return scales;
    }

    public float globalScale() {
        return globalScale;
    }

    /** The 4-bit code of one weight. */
    public int code(int row, int column) {
        int index = row * k + column;
        return (codes[index >> 1] >> (4 * (index & 1))) & 0xF;
    }

    /** The block scale byte of one weight. */
    public byte scale(int row, int column) {
        return scales[(row * k + column) / BLOCK];
    }

    /** One weight without the global scale; exact in fp32. */
    public float blockScaled(int row, int column) {
        return E2M1.decode(code(row, column)) * E4M3.decode(scale(row, column));
    }

    /** All weights in fp32, {@code [n, k]}; the product with the global scale rounds once. */
    public float[] dequantise() {
        float[] weights = new float[n * k];
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < k; column++) {
                weights[row * k + column] = blockScaled(row, column) * globalScale;
            }
        }
        return weights;
    }

    private static void require(boolean holds, String field, int value, String expected) {
        if (!holds) {
            throw new BadInputException("NVFP4 tensor: " + field + " is " + value + ", expected " + expected);
        }
    }

    private static void requireLength(String field, int length, long expected) {
        if (length != expected) {
            throw new BadInputException("NVFP4 tensor: " + field + " has " + length + " bytes, expected " + expected);
        }
    }
}
