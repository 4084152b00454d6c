package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;

/** Traces small enough to follow on paper. */
class HandComputedTest {
    /** 15 forwards of one layer, 6 experts, top-2: 30 selections. */
    private static final int[][] THIRTY = {
        {0, 3}, {3, 4}, {0, 3}, {4, 5}, {3, 4}, {0, 1}, {1, 0}, {3, 1}, {2, 3}, {3, 0}, {5, 0}, {4, 3}, {3, 0}, {1, 2},
        {0, 3}
    };

    /*
     * LRU, 3 rows, experts 0 1 2 resident at the start with use 0. Owners of rows 0, 1, 2 after each event:
     *
     *  event   hits  misses (row, who goes)             rows     why that row
     *  0 3     0     3 (row 1, 1)                       0 3 2    rows 1 and 2 both have use 0
     *  3 4     3     4 (row 2, 2)                       0 3 4    row 2 still has use 0
     *  0 3     0 3                                      0 3 4
     *  4 5     4     5 (row 0, 0)                       5 3 4    rows 0 and 1 both used in event 2
     *  3 4     3 4                                      5 3 4
     *  0 1           0 (row 0, 5), 1 (row 1, 3)         0 1 4    row 0 used in event 3; rows 1, 2 in event 4
     *  1 0     1 0                                      0 1 4
     *  3 1     1     3 (row 2, 4)                       0 1 3    row 2 used in event 4
     *  2 3     3     2 (row 0, 0)                       2 1 3    row 0 used in event 6, row 1 in event 7
     *  3 0     3     0 (row 1, 1)                       2 0 3    row 1 used in event 7
     *  5 0     0     5 (row 0, 2)                       5 0 3    row 0 used in event 8
     *  4 3     3     4 (row 0, 5)                       4 0 3    rows 0 and 1 both used in event 10
     *  3 0     3 0                                      4 0 3
     *  1 2           1 (row 0, 4), 2 (row 1, 0)         1 2 3    row 0 used in event 11; rows 1, 2 in event 12
     *  0 3     3     0 (row 0, 1)                       0 2 3    rows 0 and 1 both used in event 13
     *
     * 17 hits, 13 misses, all promoted.
     */
    @Test
    void lru() {
        assertCounts(simulate("lru", Initial.FIRST_N), 17, 13, 0);
    }

    /** From empty rows only the first event differs: 0 is a miss too, and 0, 3, 4 take rows 0, 1, 2. */
    @Test
    void lruFromEmptyRows() {
        assertCounts(simulate("lru", Initial.EMPTY), 16, 14, 0);
    }

    /*
     * Belady with bypass: contents after each event, and the next use of who comes and who goes.
     *
     *  0 3     0     3 (next 1) for 2 (next 8)                      0 1 3
     *  3 4     3     4 (next 3) for 1 (next 5)                      0 3 4
     *  0 3     0 3                                                  0 3 4
     *  4 5     4     5 (next 10) is later than 0, 3, 4 (5, 4, 4)    0 3 4    staged
     *  3 4     3 4                                                  0 3 4
     *  0 1     0     1 (next 6) for 4 (next 11)                     0 1 3
     *  1 0     1 0                                                  0 1 3
     *  3 1     3 1                                                  0 1 3
     *  2 3     3     2 (next 13) against 1 (next 13): no gain       0 1 3    staged
     *  3 0     3 0                                                  0 1 3
     *  5 0     0     5 (never again)                                0 1 3    staged
     *  4 3     3     4 (never again)                                0 1 3    staged
     *  3 0     3 0                                                  0 1 3
     *  1 2     1     2 (never again)                                0 1 3    staged
     *  0 3     0 3                                                  0 1 3
     *
     * 22 hits, 3 promoted, 5 staged.
     */
    @Test
    void beladyWithBypass() {
        assertCounts(simulate("belady", Initial.FIRST_N), 22, 3, 5);
    }

    /*
     * Belady forced: as above to event 2, then
     *
     *  4 5     4     5 for 0 (next 5; 3 is next in 4)               3 4 5
     *  3 4     3 4                                                  3 4 5
     *  0 1           0 for 4 (next 11), 1 for 5 (next 10)           0 1 3
     *  1 0     1 0                                                  0 1 3
     *  3 1     3 1                                                  0 1 3
     *  2 3     3     2 for 1 (next 13; 0 is next in 9)              0 2 3
     *  3 0     3 0                                                  0 2 3
     *  5 0     0     5 for 2 (next 13; 3 is next in 11)             0 3 5
     *  4 3     3     4 for 5 (never again)                          0 3 4
     *  3 0     3 0                                                  0 3 4
     *  1 2           1 for 4 (never again), 2 for 0 or 3 (both 14)  1 2 and one of 0, 3
     *  0 3     one   the other                                      0 3 and one of 1, 2
     *
     * 19 hits, 11 misses, all promoted.
     */
    @Test
    void beladyForced() {
        assertCounts(simulate("belady-forced", Initial.FIRST_N), 19, 11, 0);
    }

    /** Forwards 0 to 6 select 0 and 3 four times, 4 three times, 1 twice, 5 once: 0, 3, 4 make 8 + 10 + 4 hits. */
    @Test
    void staticFromTheFirstHalf() {
        assertCounts(simulate("static", Initial.FIRST_N), 22, 0, 8);
    }

    /** Over all: 3 ten times, 0 eight, 1 and 4 four each, 2 and 5 twice; of 1 and 4 the lower id is taken. */
    @Test
    void staticFromTheScoredPart() {
        assertCounts(simulate("static-leaky", Initial.FIRST_N), 22, 0, 8);
        SimulationResult lastTwo = Simulator.simulate(
                        TestTraces.of(1, 6, 2, THIRTY),
                        SimulationRequest.of(List.of("static-leaky"), List.of(3))
                                .withScore(ScoreWindow.forwards(13, Long.MAX_VALUE)))
                .get(0);
        assertCounts(lastTwo, 3, 0, 1); // each of 0, 1, 2, 3 once: 0, 1, 2 are taken, 3 is missed
    }

    /*
     * Two layers, 4 experts, top-1, 1 row each: keys 0..3 of layer 0 and 4..7 of layer 1; row 0 holds key 0, row 1 key 4.
     *
     *  layer 0: 1   miss; both rows have use 0: row 0     rows 1 4
     *  layer 1: 0   hit                                   rows 1 4
     *  layer 0: 2   miss; row 0 used at clock 1           rows 2 4
     *  layer 1: 1   miss; row 1 used at clock 2           rows 2 5
     *  layer 0: 2   hit, clock 5                          rows 2 5
     *  layer 1: 2   miss; row 1 used at clock 4           rows 2 6
     *  layer 0: 3   miss; row 0 used at clock 5           rows 3 6
     *  layer 1: 3   miss; row 1 used at clock 6           rows 3 7
     *  layer 0: 0   miss; row 0 used at clock 7           rows 0 7
     *  layer 1: 3   hit                                   rows 0 7
     */
    @Test
    void twoLayersShareOneBank() {
        RoutingTrace trace = TestTraces.of(2, 4, 1, new int[][] {{1, 0}, {2, 1}, {2, 2}, {3, 3}, {0, 3}});
        SimulationResult result = Simulator.simulate(trace, SimulationRequest.of(List.of("lru"), List.of(1)))
                .get(0);
        assertCounts(result, 3, 7, 0);
    }

    /*
     * Two layers, 4 experts, top-1, 2 rows each, layer 0 alternating over three experts while layer 1 stays with one:
     * with a bank of its own two rows layer 0 misses every time; with the shared one it takes layer 1's idle row.
     * Global: row 0..1 hold keys 0 1, rows 2..3 keys 4 5. Layer 0: 2 takes row 0, then (layer 1 hits row 2) 0 takes row 1,
     * 1 takes row 3, the idle one; from then on 2, 0, 1 are all resident.
     */
    @Test
    void aMissMayTakeAnotherLayersRow() {
        RoutingTrace trace = TestTraces.of(2, 4, 1, new int[][] {{2, 0}, {0, 0}, {1, 0}, {2, 0}, {0, 0}, {1, 0}});
        SimulationRequest request = SimulationRequest.of(List.of("lru"), List.of(2));
        assertCounts(Simulator.simulate(trace, request).get(0), 6 + 3, 3, 0);
        assertCounts(Simulator.simulate(trace, request.withScope(Scope.LAYER)).get(0), 6, 6, 0);
    }

    private static SimulationResult simulate(String policy, Initial initial) {
        return Simulator.simulate(
                        TestTraces.of(1, 6, 2, THIRTY),
                        SimulationRequest.of(List.of(policy), List.of(3)).withInitial(initial))
                .get(0);
    }

    private static void assertCounts(SimulationResult result, long hits, long promoted, long staged) {
        assertThat(List.of(result.hits(), result.promoted(), result.staged()))
                .as("hits, promoted, staged of " + result.policy())
                .containsExactly(hits, promoted, staged);
        assertThat(result.misses()).isEqualTo(promoted + staged);
        assertThat(result.selections()).isEqualTo(hits + promoted + staged);
    }
}
