package org.expertpool.pool.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Alignment against the worked examples of marlin-nvfp4 4.4, against groups made with streams, and at its limits. */
class LaneBlocksTest {
    @Nested
    class WorkedExamples {
        private static final int[] IDS = {2, 3, 4, 1, 2, 4, 1, 3, 4, 1, 2, 3};
        private static final int[] MAP = {-1, 0, -1, 1, 2};

        @Test
        void withoutAMap() {
            LaneBlocks blocks = LaneBlocks.align(IDS, 12, 5, 4);
            assertThat(LaneBlocks.maxPadded(12, 5, 4)).isEqualTo(27);
            expectSorted(blocks, 27, 3, 6, 9, 12, 0, 4, 10, 12, 1, 7, 11, 12, 2, 5, 8, 12);
            assertThat(blocks.blockExperts()).containsExactly(1, 2, 3, 4, -1, -1, -1);
            assertThat(blocks.paddedLanes()).isEqualTo(16);
        }

        @Test
        void withOneExpertTooFew() {
            LaneBlocks blocks = LaneBlocks.align(IDS, 12, 4, 4);
            assertThat(blocks.blockExperts()).containsExactly(1, 2, 3, -1, -1, -1);
            assertThat(blocks.paddedLanes()).isEqualTo(12);
        }

        @Test
        void withAMapAfterCounting() {
            LaneBlocks blocks = LaneBlocks.align(IDS, 12, 5, 4, new ExpertMap(ExpertMap.Use.AFTER_COUNTING, MAP));
            expectSorted(blocks, 27, 3, 6, 9, 12, 0, 4, 10, 12, 1, 7, 11, 12, 2, 5, 8, 12);
            assertThat(blocks.blockExperts()).containsExactly(0, -1, 1, 2, 2, 2, 2);
            assertThat(blocks.paddedLanes()).isEqualTo(16);
        }

        @Test
        void withAMapBeforeCounting() {
            LaneBlocks blocks = LaneBlocks.align(IDS, 12, 5, 4, new ExpertMap(ExpertMap.Use.BEFORE_COUNTING, MAP));
            expectSorted(blocks, 27, 3, 6, 9, 12, 1, 7, 11, 12, 2, 5, 8, 12);
            assertThat(blocks.blockExperts()).containsExactly(0, 1, 2, -1, -1, -1, -1);
            assertThat(blocks.paddedLanes()).isEqualTo(12);
        }

        @Test
        void withInvalidIds() {
            LaneBlocks blocks = LaneBlocks.align(new int[] {2, -1, 4, 7, 2, 0}, 6, 5, 4);
            assertThat(LaneBlocks.maxPadded(6, 5, 4)).isEqualTo(21);
            expectSorted(blocks, 21, 5, 6, 6, 6, 0, 4, 6, 6, 2, 6, 6, 6);
            assertThat(blocks.blockExperts()).containsExactly(0, 2, 4, -1, -1, -1);
            assertThat(blocks.paddedLanes()).isEqualTo(12);
        }

        @Test
        void ofOneDecodeToken() {
            LaneBlocks blocks = LaneBlocks.align(new int[] {5, 99, 3, 64, 127, 0, 17, 42}, 8, 128, 8);
            assertThat(LaneBlocks.maxPadded(8, 128, 8)).isEqualTo(64);
            assertThat(blocks.blockExperts()).containsExactly(0, 3, 5, 17, 42, 64, 99, 127);
            int[] firsts = {5, 2, 0, 6, 7, 3, 1, 4};
            for (int block = 0; block < 8; block++) {
                int[] expected = new int[8];
                Arrays.fill(expected, 8);
                expected[0] = firsts[block];
                assertThat(Arrays.copyOfRange(blocks.sortedLanes(), 8 * block, 8 * block + 8))
                        .containsExactly(expected);
            }
            assertThat(blocks.paddedLanes()).isEqualTo(64);
        }

        private void expectSorted(LaneBlocks blocks, int maxPadded, int... live) {
            int[] expected = new int[maxPadded];
            Arrays.fill(expected, blocks.lanes());
            System.arraycopy(live, 0, expected, 0, live.length);
            assertThat(Arrays.copyOf(blocks.sortedLanes(), maxPadded)).containsExactly(expected);
        }
    }

    @ParameterizedTest(name = "n={0} E={1} bs={2}")
    @CsvSource({
        "0, 4, 8",
        "1, 1, 1",
        "1, 512, 8",
        "10, 512, 8",
        "9, 8, 16",
        "640, 512, 8",
        "5120, 512, 16",
        "4096, 4096, 64",
        "70000, 512, 64",
        "70000, 992, 64",
        "1, 992, 8",
        "333, 7, 5",
    })
    void equalsGroupsInOrder(int lanes, int experts, int blockSize) {
        Random random = new Random(lanes * 31L + experts);
        for (int repetition = 0; repetition < (lanes > 10_000 ? 2 : 20); repetition++) {
            int[] ids = random.ints(lanes, -1, experts + 1).toArray();
            LaneBlocks blocks = LaneBlocks.align(ids, lanes, experts, blockSize);

            TreeMap<Integer, List<Integer>> groups = IntStream.range(0, lanes)
                    .boxed()
                    .filter(lane -> ids[lane] >= 0 && ids[lane] < experts)
                    .collect(Collectors.groupingBy(lane -> ids[lane], TreeMap::new, Collectors.toList()));
            List<Integer> sorted = new ArrayList<>();
            List<Integer> owners = new ArrayList<>();
            groups.forEach((expert, members) -> {
                sorted.addAll(members);
                while (sorted.size() % blockSize != 0) {
                    sorted.add(lanes);
                }
                owners.addAll(Collections.nCopies(sorted.size() / blockSize - owners.size(), expert));
            });
            assertThat(blocks.paddedLanes()).isEqualTo(sorted.size());
            sorted.addAll(Collections.nCopies(blocks.sortedLanes().length - sorted.size(), lanes));
            owners.addAll(Collections.nCopies(blocks.blocks() - owners.size(), -1));
            assertThat(Arrays.stream(blocks.sortedLanes()).boxed().toList()).isEqualTo(sorted);
            assertThat(Arrays.stream(blocks.blockExperts()).boxed().toList()).isEqualTo(owners);
        }
    }

    /** marlin-nvfp4 8, row 11. */
    @Test
    void hugeAndNegativeIdsGetNoPlace() {
        LaneBlocks blocks = LaneBlocks.align(new int[] {-1, 4, Integer.MAX_VALUE, Integer.MIN_VALUE, 3}, 5, 4, 2);
        assertThat(blocks.paddedLanes()).isEqualTo(2);
        assertThat(blocks.blockExperts()[0]).isEqualTo(3);
        assertThat(Arrays.copyOf(blocks.sortedLanes(), 2)).containsExactly(4, 5);
    }

    /** marlin-nvfp4 8, row 12: the order within an expert, and so the blocks, never vary. */
    @Test
    void isTheSameInEveryRun() {
        int lanes = 4097 * 16;
        int[] ids = new Random(12).ints(lanes, 0, 128).toArray();
        LaneBlocks first = LaneBlocks.align(ids, lanes, 128, 64);
        for (int run = 1; run < 100; run++) {
            LaneBlocks again = LaneBlocks.align(ids, lanes, 128, 64);
            assertThat(Arrays.equals(again.sortedLanes(), first.sortedLanes())).isTrue();
            assertThat(Arrays.equals(again.blockExperts(), first.blockExperts()))
                    .isTrue();
        }
    }

    /** marlin-nvfp4 8, row 14, at this project's own limit. */
    @Test
    void refusesMoreExpertsThanItHolds() {
        assertThat(LaneBlocks.align(new int[] {4095}, 1, 4096, 8).blockExperts()[0])
                .isEqualTo(4095);
        assertThatThrownBy(() -> LaneBlocks.align(new int[] {0}, 1, 4097, 8))
                .isInstanceOf(BadInputException.class)
                .hasMessage("experts is 4097, expected 1 to 4096");
        assertThatThrownBy(() -> LaneBlocks.align(new int[] {0}, 1, 0, 8)).isInstanceOf(BadInputException.class);
    }

    /** marlin-nvfp4 8, row 15: buffers are whole blocks, and sizes are computed in 64 bits. */
    @Test
    void buffersAreWholeBlocks() {
        assertThat(LaneBlocks.maxPadded(9, 8, 16)).isEqualTo(129);
        LaneBlocks blocks = LaneBlocks.align(new int[] {0, 1, 2, 3, 4, 5, 6, 7, 0}, 9, 8, 16);
        assertThat(blocks.blocks()).isEqualTo(9);
        assertThat(blocks.sortedLanes()).hasSize(144);
        assertThat(LaneBlocks.maxPadded(Integer.MAX_VALUE, 4096, 64)).isEqualTo((1L << 31) - 1 + 4096L * 63);
        assertThatThrownBy(() -> LaneBlocks.align(new int[0], Integer.MAX_VALUE, 4096, 64))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("lanes is 2147483647");
    }

    /** marlin-nvfp4 8, row 24: a router row of NaN picks one expert k times. */
    @Test
    void oneExpertInEveryLane() {
        LaneBlocks blocks = LaneBlocks.align(new int[] {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 10, 512, 8);
        assertThat(blocks.liveBlocks()).isEqualTo(2);
        assertThat(Arrays.copyOf(blocks.sortedLanes(), 16))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10, 10);
        assertThat(Arrays.copyOf(blocks.blockExperts(), 3)).containsExactly(5, 5, -1);
    }

    @Test
    void mapsMayNotLeadOutsideTheExperts() {
        assertThatThrownBy(() -> new ExpertMap(ExpertMap.Use.BEFORE_COUNTING, 0, 2))
                .isInstanceOf(BadInputException.class)
                .hasMessage("expert map holds 2, expected -1 to 1");
    }
}
