package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KSplitTest {
    @ParameterizedTest
    @CsvSource({"64, 64", "128, 128", "192, 160", "640, 160", "768, 160", "2560, 160", "7168, 160"})
    void chunksHaveOneLength(int k, int chunk) {
        assertThat(KSplit.chunk(k)).isEqualTo(chunk);
    }

    @Test
    void everyChunkIsWholeSteps() {
        for (int k = 64; k <= 16_384; k += 64) {
            assertThat(KSplit.chunk(k) % 16).isZero();
            assertThat(k % KSplit.chunk(k) % 16).isZero();
        }
    }
}
