package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;

class MissCurvesTest {
    /** With one expert an event, stack distances and simulation of each size agree exactly. */
    @Test
    void curvesEqualLruAtEverySize() {
        RoutingTrace trace = TestTraces.random(4, 1, 12, 1, 400, 50, 1);
        MissCurves curves = MissCurves.count(trace, 1, ScoreWindow.all());
        for (int rows = 1; rows < 12; rows++) {
            SimulationRequest request = SimulationRequest.of(List.of("lru"), List.of(rows))
                    .withScope(Scope.LAYER)
                    .withInitial(Initial.EMPTY);
            assertThat(curves.misses(0, rows))
                    .isEqualTo(Simulator.simulate(trace, request).get(0).misses());
        }
        assertThat(curves.misses(0, 0)).isEqualTo(400);
    }

    @Test
    void theSplitIsTheBestOfAll() {
        Random random = new Random(5);
        for (int i = 0; i < 200; i++) {
            long[][] misses = new long[3][8];
            for (long[] curve : misses) {
                Arrays.setAll(curve, rows -> random.nextInt(50));
            }
            MissCurves curves = new MissCurves(misses);
            int rows = 3 + random.nextInt(15);
            int[] split = curves.split(rows, 1, 6);
            assertThat(Arrays.stream(split).sum()).isEqualTo(rows);
            assertThat(Arrays.stream(split).allMatch(own -> own >= 1 && own <= 6))
                    .isTrue();
            long least = Long.MAX_VALUE;
            for (int a = 1; a <= 6; a++) {
                for (int b = 1; b <= 6; b++) {
                    int c = rows - a - b;
                    if (c >= 1 && c <= 6) {
                        least = Math.min(least, misses[0][a] + misses[1][b] + misses[2][c]);
                    }
                }
            }
            assertThat(misses[0][split[0]] + misses[1][split[1]] + misses[2][split[2]])
                    .isEqualTo(least);
        }
    }
}
