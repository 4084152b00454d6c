package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.Initial;
import org.junit.jupiter.api.Test;

class StepTimesTest {
    /**
     * One layer of four experts, top-1, one row, empty start: 0 0 0 1 1 misses, hits, hits, misses, hits. A step takes
     * 10 us, and 90 us more for a miss: sorted 10 10 10 100 100.
     */
    @Test
    void percentilesAreThoseOfTheSortedSteps() {
        InMemoryTrace.Builder trace = InMemoryTrace.builder(new TraceShape(1, 4, 1, false), "by hand");
        int[] experts = {0, 0, 0, 1, 1};
        for (int position = 0; position < experts.length; position++) {
            trace.decode(position == 0, position, experts[position]);
        }
        SimulationResult result = Simulator.simulate(
                        trace.build(),
                        SimulationRequest.of(List.of("lru"), List.of(1)).withInitial(Initial.EMPTY))
                .get(0);
        StepTimes times = StepTimes.of(result.steps(), (selected, misses) -> 10 * selected + 90 * misses);
        assertThat(times.percentile(0.50)).isEqualTo(10);
        assertThat(times.percentile(0.60)).isEqualTo(10);
        assertThat(times.percentile(0.61)).isEqualTo(100);
        assertThat(times.percentile(0.99)).isEqualTo(100);
    }
}
