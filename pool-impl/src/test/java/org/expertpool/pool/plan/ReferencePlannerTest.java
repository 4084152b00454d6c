package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single rules of pool-semantics 4 to 8, each where it bites. */
class ReferencePlannerTest {
    private final PoolConfig config = new PoolConfig(3, 8, 2, 4, 2); // rows 0..11, staging 12..15
    private final ReferencePlanner planner = new ReferencePlanner(config);

    @Nested
    class Gate {
        @Test
        void closedKeepsPlacementRecencyAndMissCounts() {
            open();
            step(0, 5, 6);
            planner.control(Map.of("gate", 0));
            String before = planner.tables().sha256();
            Random random = new Random(1);
            for (int i = 0; i < 500; i++) {
                StepPlan plan = step(i % 3, random.ints(4, 0, 8).toArray());
                assertThat(plan.promoted()).isZero();
            }
            assertThat(planner.tables().sha256()).isEqualTo(before);
            assertThat(planner.tables().clock()).isEqualTo(1);
            assertThat(planner.tables().forwards()).isEqualTo(1);
        }

        /** forwards is still 0 then, and -1 is a multiple of no interval but 1. */
        @ParameterizedTest
        @CsvSource({"1, 1", "2, 0", "3, 0", "2147483647, 0"})
        void openedInMidForwardPromotesAtIntervalOneAlone(int interval, int promoted) {
            planner.control(Map.of("gate", 1, "promoteInterval", interval));
            assertThat(step(1, 7).promoted()).isEqualTo(promoted);
            assertThat(planner.tables().missCount(8 + 7)).isEqualTo(1 - promoted);
            assertThat(step(0, 7).promoted()).isEqualTo(1); // forward 1 is the first of every interval
        }
    }

    @Nested
    class Controls {
        @Test
        void intervalCountsForwardsWithTheGateOpen() {
            planner.control(Map.of("gate", 1, "promoteInterval", 3));
            int[] promoted = new int[7];
            for (int forward = 0; forward < 7; forward++) {
                promoted[forward] = step(0, forward % 2 == 0 ? 6 : 7).promoted()
                        + step(2, 4 + forward % 4).promoted();
            }
            // Forwards 1, 4 and 7 promote; in 7, expert 6 of layer 0 still sits where forward 1 put it.
            assertThat(promoted).containsExactly(2, 0, 0, 2, 0, 0, 1);
        }

        @Test
        void limitIsPerLayerCall() {
            planner.control(Map.of("gate", 1, "promoteLimit", 1));
            for (int layer = 0; layer < 3; layer++) {
                StepPlan plan = step(layer, 5, 6, 7);
                assertThat(new int[] {plan.promoted(), plan.staged()}).containsExactly(1, 2);
                assertThat(plan.copyExpert(0)).isEqualTo(5);
            }
        }

        @Test
        void minMissesCountSinceLastResident() {
            planner.control(Map.of("gate", 1, "promoteMinMisses", 3));
            assertThat(step(0, 5).promoted()).isZero();
            assertThat(step(0, 5, 5).promoted()).isZero(); // a repeated lane is one miss
            assertThat(planner.tables().missCount(5)).isEqualTo(2);
            assertThat(step(0, 5).promoted()).isEqualTo(1);
            assertThat(planner.tables().missCount(5)).isZero();
            assertThat(step(0, 5).hits()).isEqualTo(1);
            assertThat(planner.tables().missCount(5)).isZero();
        }

        /** L = 3: after s steps with protectRecent 1, rows used in the last 3 clocks are safe, older ones are not. */
        @Test
        void protectRecentIsInForwards() {
            planner.control(Map.of("gate", 1));
            for (int step = 1; step <= 3; step++) {
                step(step - 1, 0, 1, 2, 3); // clocks 1, 2, 3: all rows used once
            }
            planner.control(Map.of("protectRecent", 1));
            assertThat(step(0, 4).promoted()).isZero(); // clock 4: needs use < 1
            assertThat(step(1, 4).promoted()).isEqualTo(1); // clock 5: layer 0's rows have use 1 < 2
            assertThat(step(2, 4, 5, 6, 7).promoted()).isEqualTo(4); // clock 6: uses 1 and 2 are < 3
        }

        /** 2^31 - 1 forwards of three layers do not fit 32 bits. */
        @Test
        void protectRecentIsCountedInSixtyFourBits() {
            planner.control(Map.of("gate", 1, "protectRecent", Integer.MAX_VALUE));
            planner.tables().clock = 3L * Integer.MAX_VALUE - 1;
            assertThat(step(1, 7).promoted()).isZero(); // use 0 < 0 fails by one
            assertThat(step(1, 7).promoted()).isEqualTo(1);
        }
    }

    @Nested
    class Victims {
        @Test
        void comeFromAnyLayerAndTheTotalStays() {
            open();
            for (int i = 0; i < 3; i++) {
                step(0, 4, 5, 6, 7);
                step(0, 0, 1, 2, 3);
            }
            assertThat(residents(0)).isEqualTo(8); // all of layer 0, at the cost of the others
            assertThat(residents(0) + residents(1) + residents(2)).isEqualTo(config.poolRows());
        }

        @Test
        void areNeverRowsOfTheSameStep() {
            ReferencePlanner tiny = new ReferencePlanner(new PoolConfig(1, 6, 2, 2, 2));
            tiny.control(Map.of("gate", 1));
            StepPlan plan = tiny.step(0, new int[] {5, 4, 3, 1}, ones(4), 4);
            // Expert 1 is stamped first although its lane is last, so one row is left for 5; 4 and 3 are staged.
            assertThat(plan.promoted()).isEqualTo(1);
            assertThat(Arrays.copyOf(plan.routes(), 4)).containsExactly(0, 2, 3, 1);
        }

        @Test
        void areNoneWhereEveryRowIsUsed() {
            ReferencePlanner tiny = new ReferencePlanner(new PoolConfig(1, 6, 2, 2, 2));
            tiny.control(Map.of("gate", 1));
            StepPlan plan = tiny.step(0, new int[] {0, 1, 2, 3}, ones(4), 4);
            assertThat(new int[] {plan.promoted(), plan.staged()}).containsExactly(0, 2);
        }
    }

    /** The same step with the lane as padding gives the same tables, at any layer and in any lane. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void invalidLanesArePlannedAsPadding(int layer) {
        int[] ids = {8, -2, Integer.MAX_VALUE, Integer.MIN_VALUE, 5, 5, 5, 5};
        float[] weights = {1, 1, 1, 1, Float.NaN, Float.POSITIVE_INFINITY, -Float.MIN_VALUE, Float.NEGATIVE_INFINITY};
        for (int fault = 0; fault < ids.length; fault++) {
            for (int lane = 0; lane < 4; lane++) {
                ReferencePlanner faulty = new ReferencePlanner(config);
                ReferencePlanner padded = new ReferencePlanner(config);
                faulty.control(Map.of("gate", 1));
                padded.control(Map.of("gate", 1));
                int[] laneIds = {6, 0, 7, 6};
                float[] laneWeights = ones(4);
                laneIds[lane] = ids[fault];
                laneWeights[lane] = weights[fault];
                StepPlan plan = faulty.step(layer, laneIds, laneWeights, 4);
                int[] paddedIds = laneIds.clone();
                paddedIds[lane] = -1;
                StepPlan expected = padded.step(layer, paddedIds, laneWeights, 4);
                assertThat(faulty.tables().sha256()).isEqualTo(padded.tables().sha256());
                assertThat(plan.routes()).containsExactly(expected.routes());
                assertThat(plan.safeIds()).containsExactly(expected.safeIds());
                assertThat(faulty.tables().error()).isEqualTo(1);
                assertThat(padded.tables().error()).isZero();
            }
        }
    }

    @Test
    void theErrorSticksUntilCleared() {
        step(0, 99);
        step(0, 1);
        assertThat(planner.tables().error()).isEqualTo(1);
        planner.clearError();
        step(0, -1);
        assertThat(planner.tables().error()).isZero();
    }

    @Test
    void minusZeroIsNotNegative() {
        planner.step(0, new int[] {1}, new float[] {-0f}, 1);
        assertThat(planner.tables().error()).isZero();
    }

    /** Anchors 6, rows 11 and 12: what was asked for is what is resident, from the start and ever after. */
    @Test
    void theEffectiveRowsStayResident() {
        open();
        Random random = new Random(4);
        for (int i = 0; i < 2_000; i++) {
            step(i % 3, random.nextInt(8), random.nextInt(8));
            assertThat(residents(0) + residents(1) + residents(2)).isEqualTo(config.poolRows());
        }
    }

    /** Anchors 6, row 1: within an event, the order of the lanes changes no count. */
    @Test
    void permutingAnEventKeepsItsCounts() {
        ReferencePlanner other = new ReferencePlanner(config);
        planner.control(Map.of("gate", 1, "promoteLimit", 2));
        other.control(Map.of("gate", 1, "promoteLimit", 2));
        int[] ids = {1, 4, 5, 6};
        StepPlan plan = planner.step(0, ids, ones(4), 4);
        StepPlan permuted = other.step(0, new int[] {6, 1, 5, 4}, ones(4), 4);
        assertThat(new int[] {permuted.hits(), permuted.promoted(), permuted.staged()})
                .containsExactly(plan.hits(), plan.promoted(), plan.staged())
                .containsExactly(1, 2, 1);
    }

    @Test
    void refusesWiderCallsAndUnknownLayers() {
        assertThatThrownBy(() -> step(0, 1, 2, 3, 4, 5)).hasMessageContaining("lanes is 5, expected 0 to S = 4");
        assertThatThrownBy(() -> step(3, 1)).hasMessageContaining("layer is 3, expected 0 to 2");
        assertThatThrownBy(() -> step(-1, 1)).hasMessageContaining("layer is -1");
    }

    @Test
    void swapsAreOfOneLayerAndOfAResidentForAnother() {
        assertThat(planner.swap(1, 2, 7)).isEqualTo(6);
        assertThat(TableCheck.firstViolation(planner.tables())).isEmpty();
        assertThatThrownBy(() -> planner.swap(1, 2, 7)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> planner.swap(1, 7, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> planner.swap(1, 8, 0)).hasMessageContaining("expert is 8, expected 0 to 7");
        assertThatThrownBy(() -> planner.swap(3, 0, 1)).hasMessageContaining("layer is 3");
        open();
        assertThatThrownBy(() -> planner.swap(1, 7, 2)).isInstanceOf(IllegalStateException.class);
    }

    private void open() {
        planner.control(Map.of("gate", 1));
    }

    private StepPlan step(int layer, int... ids) {
        return planner.step(layer, ids, ones(ids.length), ids.length);
    }

    private long residents(int layer) {
        return IntStream.range(0, 8)
                .filter(expert -> planner.tables().hotRow(config.key(layer, expert)) >= 0)
                .count();
    }

    private static float[] ones(int count) {
        float[] weights = new float[count];
        Arrays.fill(weights, 1f);
        return weights;
    }
}
