package org.expertpool.pool.marlin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightRepackTest {
    /** TV1 of marlin-nvfp4 2.7: a single nibble 0xF at (k, n). */
    @ParameterizedTest
    @CsvSource({
        "0, 0, 64, 0, 0000000f",
        "1, 0, 64, 0, 000f0000",
        "8, 0, 64, 0, 000000f0",
        "0, 8, 64, 0, 00000f00",
        "9, 8, 64, 0, f0000000",
        "3, 17, 64, 21, 000f0000",
        "15, 63, 64, 127, f0000000",
        "0, 64, 128, 128, 0000000f",
        "16, 0, 128, 256, 0000000f",
        "31, 127, 128, 511, f0000000",
    })
    void tv1PlacesASingleCode(int k, int n, int columns, int word, String value) {
        int depth = k < 16 ? 16 : 32;
        byte[] codes = new byte[columns * depth / 2];
        codes[(n * depth + k) / 2] = (byte) (k % 2 == 0 ? 0x0F : 0xF0);
        int[] words = WeightRepack.repack(codes, columns, depth);
        assertThat(words[word]).isEqualTo(Integer.parseUnsignedInt(value, 16));
        words[word] = 0;
        assertThat(words).containsOnly(0);
    }

    @Test
    void tv2RepeatsOneRow() {
        byte[] row = HexFormat.of().parseHex("1032547698badcfe");
        byte[] codes = new byte[64 * 8];
        for (int n = 0; n < 64; n++) {
            System.arraycopy(row, 0, codes, 8 * n, 8);
        }
        int[] byRowPair = {0x91918080, 0xb3b3a2a2, 0xd5d5c4c4, 0xf7f7e6e6};
        int[] words = WeightRepack.repack(codes, 64, 16);
        for (int word = 0; word < 128; word++) {
            assertThat(words[word]).isEqualTo(byRowPair[word / 4 % 4]);
        }
    }

    @Test
    void tv3CountsAlongBothAxes() {
        int[] words = WeightRepack.repack(TestVectors.pack(64, 16, (k, n) -> (k + n) % 16), 64, 16);
        assertThat(Arrays.copyOfRange(words, 0, 4)).containsOnly(0x19910880);
        assertThat(Arrays.copyOfRange(words, 4, 8)).containsOnly(0x3bb32aa2);
        assertThat(Arrays.copyOfRange(words, 124, 128)).containsOnly(0xe66ed55d);
    }

    @Test
    void tv4GivesThePublishedWordsAndChecksum() {
        byte[] codes = TestVectors.tv4Codes();
        assertThat(Arrays.copyOf(codes, 8)).isEqualTo(HexFormat.of().parseHex("705e3c1af8d6b492"));
        assertThat(Arrays.copyOfRange(codes, 32, 40)).isEqualTo(HexFormat.of().parseHex("c5a3816f4d2b09e7"));
        int[] words = WeightRepack.repack(codes, 64, 64);
        assertThat(Arrays.copyOf(words, 8))
                .containsExactly(
                        0x7ff70880, 0xa22a3bb3, 0xd55d6ee6, 0x08809119, 0x5dd5e66e, 0x80081991, 0xb33b4cc4, 0xe66e7ff7);
        assertThat(Arrays.copyOfRange(words, 508, 512)).containsExactly(0x7ff70880, 0xa22a3bb3, 0xd55d6ee6, 0x08809119);
        assertThat(TestVectors.checksum(words)).isEqualTo(0x78bd87c0);
    }

    /** The closed form of marlin-nvfp4 2.1, code by code, against the byte-wise implementation. */
    @ParameterizedTest
    @CsvSource({"64, 16", "64, 48", "192, 48", "128, 160", "1280, 64"})
    void equalsTheClosedFormAndInverts(int columns, int depth) {
        byte[] codes = new byte[columns * depth / 2];
        new SplittableRandom(columns + depth).nextBytes(codes);
        int[] expected = new int[columns * depth / 8];
        for (int n = 0; n < columns; n++) {
            for (int k = 0; k < depth; k++) {
                int code = codes[(n * depth + k) / 2] >> (4 * (k % 2)) & 0xF;
                expected[closedFormWord(k, n, columns)] |= code << (4 * closedFormNibble(k, n));
            }
        }
        int[] words = WeightRepack.repack(codes, columns, depth);
        assertThat(words).isEqualTo(expected);
        assertThat(WeightRepack.unpack(words, columns, depth)).isEqualTo(codes);
    }

    /** Bug 17: tensor-parallel shards whose width is no multiple of 64 fail loudly; 1856 = 64 * 29 works. */
    @Test
    void bug17RefusesWidthsOffTheTile() {
        assertThatThrownBy(() -> WeightRepack.repack(new byte[160 * 32], 160, 64))
                .isInstanceOf(BadInputException.class)
                .hasMessage("Marlin repack: n is 160, expected a positive multiple of 64");
        assertThatThrownBy(() -> WeightRepack.repack(new byte[64 * 4], 64, 8)).hasMessageContaining("k is 8");
        byte[] codes = new byte[1856 * 8];
        new SplittableRandom(17).nextBytes(codes);
        assertThat(WeightRepack.unpack(WeightRepack.repack(codes, 1856, 16), 1856, 16))
                .isEqualTo(codes);
    }

    @Test
    void refusesAWrongNumberOfBytes() {
        assertThatThrownBy(() -> WeightRepack.repack(new byte[511], 64, 16))
                .hasMessage("Marlin repack: weights have 511 bytes, expected n * k / 2 = 512");
        assertThatThrownBy(() -> WeightRepack.unpack(new int[127], 64, 16)).hasMessageContaining("508 bytes");
    }

    private static int closedFormWord(int k, int n, int columns) {
        int lane = 4 * (n % 8) + k % 8 / 2;
        return k / 16 * 2 * columns + n / 64 * 128 + lane * 4 + n % 64 / 16;
    }

    private static int closedFormNibble(int k, int n) {
        return 4 * (k % 2) + 2 * (n % 16 / 8) + k % 16 / 8;
    }
}
