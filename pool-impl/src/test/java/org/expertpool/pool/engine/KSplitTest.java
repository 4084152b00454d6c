package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KSplitTest {
    @ParameterizedTest
    @CsvSource({"64, 64", "640, 640", "704, 384", "768, 384", "2048, 512", "2560, 640", "2880, 576", "7168, 640"})
    void chunksAreEqualTiles(int k, int chunk) {
        assertThat(KSplit.chunk(k)).isEqualTo(chunk);
    }

    @Test
    void everyChunkIsWholeTilesAndNotEmpty() {
        for (int k = 64; k <= 16_384; k += 64) {
            int chunk = KSplit.chunk(k);
            assertThat(chunk % 64).isZero();
            assertThat(chunk).isBetween(64, 640);
            assertThat((k + 639) / 640).as("as few as possible, %d", k).isEqualTo((k + chunk - 1) / chunk);
        }
    }
}
