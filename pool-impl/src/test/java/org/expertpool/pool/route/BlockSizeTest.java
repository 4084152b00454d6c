package org.expertpool.pool.route;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of marlin-nvfp4 5.1: the most tokens that keep each block size. */
class BlockSizeTest {
    @ParameterizedTest
    @CsvSource({"128, 8, 115, 230, 460, 691", "512, 10, 368, 737, 1474, 2211", "256, 8, 230, 460, 921, 1382"})
    void changesWhereTheTableSays(int experts, int topK, int at8, int at16, int at32, int at48) {
        assertThat(BlockSize.choose(1, topK, experts)).isEqualTo(8);
        assertThat(BlockSize.choose(at8, topK, experts)).isEqualTo(8);
        assertThat(BlockSize.choose(at8 + 1, topK, experts)).isEqualTo(16);
        assertThat(BlockSize.choose(at16, topK, experts)).isEqualTo(16);
        assertThat(BlockSize.choose(at16 + 1, topK, experts)).isEqualTo(32);
        assertThat(BlockSize.choose(at32, topK, experts)).isEqualTo(32);
        assertThat(BlockSize.choose(at32 + 1, topK, experts)).isEqualTo(48);
        assertThat(BlockSize.choose(at48, topK, experts)).isEqualTo(48);
        assertThat(BlockSize.choose(at48 + 1, topK, experts)).isEqualTo(64);
        assertThat(BlockSize.choose(1L << 40, topK, experts)).isEqualTo(64);
    }
}
