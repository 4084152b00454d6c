package org.expertpool.harness.trace.synthetic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.expertpool.harness.stats.NaiveLru;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every seed reproduces the published curves, counted by a naive LRU that shares no code with the statistics. */
class CalibrationTest {
    private static final double POINTS_1_5 = 0.015;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void qwen38FlashNextProseFollowsTheCurveOfImp2061(long seed) {
        RoutingTrace trace = SyntheticTraces.preset(SyntheticTraces.QWEN38_FLASH_NEXT_PROSE, 300, seed);
        int[] rows = {31, 62, 93, 124, 170};
        double[] published = {0.435, 0.620, 0.720, 0.789, 0.850};
        for (int point = 0; point < rows.length; point++) {
            assertThat(NaiveLru.hitRatio(trace, rows[point], 0, 300))
                    .as("LRU hit ratio at %d experts per layer", rows[point])
                    .isCloseTo(published[point], within(POINTS_1_5));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void qwen38FlashNextProseHasTheWorkingSetOfLayer0(long seed) {
        int[] counts = layer0Counts(SyntheticTraces.preset(SyntheticTraces.QWEN38_FLASH_NEXT_PROSE, 300, seed));
        Arrays.sort(counts);
        long distinct = Arrays.stream(counts).filter(count -> count > 0).count();
        assertThat(distinct).as("distinct experts").isBetween(359L, 409L);
        double top64 = Arrays.stream(counts, 512 - 64, 512).sum() / 3000.0;
        assertThat(top64).as("share of the top 64").isCloseTo(0.41, within(0.03));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void qwen330bA3bFollowsTheCurveOfImp1374(long seed) {
        RoutingTrace trace = SyntheticTraces.preset(SyntheticTraces.QWEN3_30B_A3B, 256, seed);
        double[] rows = {8, 24.3, 48.7, 81.3};
        double[] published = {0.366, 0.741, 0.894, 0.962};
        for (int point = 0; point < rows.length; point++) {
            assertThat(interpolated(trace, rows[point]))
                    .as("LRU hit ratio at %s experts per layer", rows[point])
                    .isCloseTo(published[point], within(POINTS_1_5));
        }
    }

    /** Published sizes are means over layers; between whole rows the ratio is taken as linear. */
    private static double interpolated(RoutingTrace trace, double rows) {
        int below = (int) rows;
        double share = rows - below;
        double atBelow = NaiveLru.hitRatio(trace, below, 0, 256);
        return share == 0 ? atBelow : (1 - share) * atBelow + share * NaiveLru.hitRatio(trace, below + 1, 0, 256);
    }

    private static int[] layer0Counts(RoutingTrace trace) {
        int[] counts = new int[512];
        int[] ids = new int[10];
        ForwardCursor cursor = trace.cursor();
        while (cursor.next()) {
            cursor.ids(0, ids);
            for (int id : ids) {
                counts[id]++;
            }
        }
        return counts;
    }
}
