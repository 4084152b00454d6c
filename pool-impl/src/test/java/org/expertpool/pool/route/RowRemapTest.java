package org.expertpool.pool.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.expertpool.pool.PoolFailureException;
import org.junit.jupiter.api.Test;

class RowRemapTest {
    @Test
    void mapsLiveBlocksAloneAndBeyondTheExpertCount() {
        LaneBlocks blocks = LaneBlocks.align(new int[] {2, 0, 2, 2}, 4, 3, 2);
        assertThat(blocks.blockExperts()).containsExactly(0, 2, 2, -1);
        assertThat(RowRemap.rows(blocks, new int[] {12_000, -1, 7})).containsExactly(12_000, 7, 7, -1);
    }

    @Test
    void blocksBeyondThePaddedCountAreNotRead() {
        LaneBlocks stale = new LaneBlocks(4, 4, new int[8], new int[] {1, 99}, 4);
        assertThat(RowRemap.rows(stale, new int[] {0, 5})).containsExactly(5, -1);
    }

    @Test
    void refusesAnExpertWithoutARow() {
        LaneBlocks blocks = LaneBlocks.align(new int[] {1}, 1, 3, 2);
        assertThatThrownBy(() -> RowRemap.rows(blocks, new int[] {0, -1, 2}))
                .isInstanceOf(PoolFailureException.class)
                .hasMessage("live block 0 of 1: expert 1 has no row");
    }

    /** marlin-nvfp4 8, row 10: a live block without an expert is refused, never used as an index. */
    @Test
    void refusesALiveBlockWithoutAnExpert() {
        LaneBlocks blocks = new LaneBlocks(8, 24, new int[24], new int[] {0, -1, 1}, 24);
        assertThatThrownBy(() -> RowRemap.rows(blocks, new int[] {3, 4}))
                .isInstanceOf(PoolFailureException.class)
                .hasMessage("live block 1 of 3: expert -1 has no row");
    }
}
