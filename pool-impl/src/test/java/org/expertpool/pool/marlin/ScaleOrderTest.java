package org.expertpool.pool.marlin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleOrderTest {
    /** The stored order of one chunk as marlin-nvfp4 2.3 lists it. */
    @Test
    void startsAChunkWithThePublishedColumns() {
        int[] published = {0, 16, 8, 24, 32, 48, 40, 56, 1, 17, 9, 25, 33, 49, 41, 57};
        byte[] scales = new byte[128 * 2];
        for (int n = 0; n < 128; n++) {
            scales[2 * n] = (byte) n;
            scales[2 * n + 1] = (byte) (127 - n);
        }
        byte[] marlin = ScaleOrder.toMarlin(scales, 128, 32);
        for (int i = 0; i < published.length; i++) {
            assertThat(marlin[i]).isEqualTo((byte) published[i]);
            assertThat(marlin[64 + i]).isEqualTo((byte) (64 + published[i]));
            assertThat(marlin[128 + i]).as("second group").isEqualTo((byte) (127 - published[i]));
        }
    }

    /** Composition named in marlin-nvfp4 2.3: position 8i + m holds column i + 8m, then the middle of each 4 swaps. */
    @Test
    void isThe64WidePermutationWithSwappedMiddles() {
        int[] order = new int[64];
        for (int i = 0; i < 8; i++) {
            for (int m = 0; m < 8; m++) {
                order[8 * i + m] = i + 8 * m;
            }
        }
        for (int four = 0; four < 64; four += 4) {
            int second = order[four + 1];
            order[four + 1] = order[four + 2];
            order[four + 2] = second;
        }
        for (int position = 0; position < 64; position++) {
            assertThat(ScaleOrder.position(order[position])).isEqualTo(position);
            assertThat(ScaleOrder.position(640 + order[position])).isEqualTo(640 + position);
        }
    }

    /** A lane with column index c finds its sub-tiles' scales in 8 consecutive bytes, as the kernel reads them. */
    @Test
    void putsALanesScalesSideBySide() {
        for (int c = 0; c < 8; c++) {
            for (int j = 0; j < 4; j++) {
                int word = 8 * c + 4 * (j / 2);
                assertThat(ScaleOrder.position(16 * j + c)).isEqualTo(word + j % 2);
                assertThat(ScaleOrder.position(16 * j + 8 + c)).isEqualTo(word + 2 + j % 2);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"64, 32", "64, 64", "192, 48", "1280, 80"})
    void inverts(int n, int k) {
        byte[] scales = new byte[n * k / 16];
        new SplittableRandom(n + k).nextBytes(scales);
        byte[] marlin = ScaleOrder.toMarlin(scales, n, k);
        assertThat(ScaleOrder.fromMarlin(marlin, n, k)).isEqualTo(scales);
        assertThat(marlin).isNotEqualTo(scales);
    }

    @Test
    void refusesASingleGroupAndWrongShapes() {
        assertThatThrownBy(() -> ScaleOrder.toMarlin(new byte[64], 64, 16))
                .hasMessage("Marlin scales: k is 16, expected a multiple of 16 of at least 32");
        assertThatThrownBy(() -> ScaleOrder.toMarlin(new byte[64], 32, 32)).hasMessageContaining("n is 32");
        assertThatThrownBy(() -> ScaleOrder.fromMarlin(new byte[127], 64, 32)).hasMessageContaining("127 bytes");
    }
}
