package org.expertpool.pool.marlin;

import org.expertpool.pool.BadInputException;

/**
 * Reorders the packed codes of one weight matrix into Marlin words and back (marlin-nvfp4 2.1).
 *
 * <p>A word holds what one lane of a warp multiplies in a 16 x 16 sub-tile: columns c and c + 8, rows 2q, 2q + 1, 2q + 8
 * and 2q + 9. Both forms have {@code n * k / 2} bytes.
 */
public final class WeightRepack {
    private static final int TILE_K = 16;
    private static final int TILE_N = 64;
    private static final int LANES = 32;
    private static final int SUB_TILES = TILE_N / 16;

    private WeightRepack() {}

    /**
     * Repacks checkpoint codes.
     *
     * @param codes u8 {@code [n, k/2]}, k = 2i in the low nibble of byte i
     * @param n output rows, a multiple of 64
     * @param k reduction length, a multiple of 16
     * @return i32 {@code [k/16, 2n]}
     */
    public static int[] repack(byte[] codes, int n, int k) {
        requireShape(codes.length, n, k);
        int[] words = new int[n * k / 8];
        int right = 8 * (k / 2);
        forEachWord(
                n,
                k,
                (word, at) -> words[word] = spread(codes[at])
                        | (spread(codes[at + 4]) << 4)
                        | (spread(codes[at + right]) << 8)
                        | (spread(codes[at + right + 4]) << 12));
        return words;
    }

    /** The inverse of {@link #repack}: i32 {@code [k/16, 2n]} to u8 {@code [n, k/2]}. */
    public static byte[] unpack(int[] words, int n, int k) {
        requireShape(words.length * 4L, n, k);
        byte[] codes = new byte[n * k / 2];
        int right = 8 * (k / 2);
        forEachWord(n, k, (word, at) -> {
            codes[at] = gather(words[word]);
            codes[at + 4] = gather(words[word] >>> 4);
            codes[at + right] = gather(words[word] >>> 8);
            codes[at + right + 4] = gather(words[word] >>> 12);
        });
        return codes;
    }

    /**
     * What is done with each word: its index, and the byte of its first code, which is the left half of its sub-tile and
     * the upper half of its rows.
     */
    private interface WordAction {
        void accept(int word, int firstByte);
    }

    private static void forEachWord(int n, int k, WordAction action) {
        int word = 0;
        for (int depth = 0; depth < k; depth += TILE_K) {
            for (int tile = 0; tile < n; tile += TILE_N) {
                for (int lane = 0; lane < LANES; lane++) {
                    int column = tile + lane / 4;
                    int firstByte = (column * k + depth) / 2 + lane % 4;
                    for (int subTile = 0; subTile < SUB_TILES; subTile++) {
                        action.accept(word++, firstByte + subTile * 8 * k);
                    }
                }
            }
        }
    }

    /** A byte's two nibbles (rows 2q, 2q + 1) as nibbles 0 and 4 of a word. */
    private static int spread(byte pair) {
        return (pair & 0xF) | ((pair & 0xF0) << 12);
    }

    private static byte gather(int word) {
        return (byte) ((word & 0xF) | ((word >>> 12) & 0xF0));
    }

    private static void requireShape(long bytes, int n, int k) {
        if (n < TILE_N || n % TILE_N != 0) {
            throw new BadInputException("Marlin repack: n is " + n + ", expected a positive multiple of " + TILE_N);
        }
        if (k < TILE_K || k % TILE_K != 0) {
            throw new BadInputException("Marlin repack: k is " + k + ", expected a positive multiple of " + TILE_K);
        }
        if (bytes != (long) n * k / 2) {
            throw new BadInputException(
                    "Marlin repack: weights have " + bytes + " bytes, expected n * k / 2 = " + (long) n * k / 2);
        }
    }
}
