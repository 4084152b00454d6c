package org.expertpool.harness.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CyclicRoutingTest {
    /** Planned by the reference: after one turn, every call of the next has the misses asked for. */
    @ParameterizedTest
    @CsvSource({
        "512, 10, 258, 0",
        "512, 10, 258, 1",
        "512, 10, 258, 2",
        "512, 10, 258, 5",
        "512, 10, 258, 10",
        "512, 10, 208, 1",
        "512, 10, 64, 2",
        "512, 10, 400, 5",
        "128, 8, 64, 1",
        "13, 2, 6, 1",
        "16, 4, 6, 2"
    })
    void everyCallOfAWarmPoolMissesAsOften(int experts, int topK, int rows, int misses) {
        PoolConfig config = new PoolConfig(3, experts, topK, rows, 1);
        CyclicRouting routing = new CyclicRouting(config, misses);
        RoutingTape tape = routing.tape();
        assertThat(tape.forwards()).isEqualTo(routing.period());
        ReferencePlanner planner = new ReferencePlanner(config);
        planner.controls(PoolControls.DEFAULTS.withGate(true));
        for (int forward = 0; forward < 2 * tape.forwards() + 3; forward++) {
            for (int layer = 0; layer < config.layers(); layer++) {
                int at = tape.at(forward % tape.forwards(), layer);
                int[] ids = Arrays.copyOfRange(tape.ids(), at, at + topK);
                float[] weights = Arrays.copyOfRange(tape.weights(), at, at + topK);
                assertThat(ids).doesNotHaveDuplicates();
                int copies = planner.step(layer, ids, weights, topK).copies();
                if (forward >= tape.forwards()) {
                    assertThat(copies)
                            .as("forward %d, layer %d", forward, layer)
                            .isEqualTo(misses);
                }
            }
        }
    }
}
