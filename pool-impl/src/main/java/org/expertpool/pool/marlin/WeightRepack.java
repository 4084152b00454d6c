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
        for (int word = 0; word < words.length; word++) {
            Place place = Place.of(word, n);
            int upper = place.firstByte(k);
            int right = upper + 8 * (k / 2);
            words[word] = spread(codes[upper])
                    | (spread(codes[upper + 4]) << 4)
                    | (spread(codes[right]) << 8)
                    | (spread(codes[right + 4]) << 12);
        }
        return words;
    }

    /** The inverse of {@link #repack}: i32 {@code [k/16, 2n]} to u8 {@code [n, k/2]}. */
    public static byte[] unpack(int[] words, int n, int k) {
        requireShape(words.length * 4L, n, k);
        byte[] codes = new byte[n * k / 2];
        for (int word = 0; word < words.length; word++) {
            Place place = Place.of(word, n);
            int upper = place.firstByte(k);
            int right = upper + 8 * (k / 2);
            codes[upper] = gather(words[word]);
            codes[upper + 4] = gather(words[word] >>> 4);
            codes[right] = gather(words[word] >>> 8);
            codes[right + 4] = gather(words[word] >>> 12);
        }
        return codes;
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

    /** Where a word's first code comes from: left half of its sub-tile, upper half of its rows. */
    private record Place(int row, int column) {
        static Place of(int word, int n) {
            int perTileRow = 2 * n;
            int inTileRow = word % perTileRow;
            int tile = inTileRow / (LANES * SUB_TILES);
            int lane = inTileRow / SUB_TILES % LANES;
            int subTile = inTileRow % SUB_TILES;
            return new Place(TILE_N * tile + 16 * subTile + lane / 4, TILE_K * (word / perTileRow) + 2 * (lane % 4));
        }

        int firstByte(int k) {
            return (row * k + column) / 2;
        }
    }
}
