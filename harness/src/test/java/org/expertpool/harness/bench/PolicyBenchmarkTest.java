package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.pool.policy.StepTally;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyBenchmarkTest {
    /** A bound that is told a wrong future is quick at something else. */
    @ParameterizedTest
    @ValueSource(strings = {"belady", "belady-forced"})
    void eachPassOfABoundIsThatOfTheSimulator(String policy) {
        PolicyBenchmark benchmark = new PolicyBenchmark();
        benchmark.policy = policy;
        benchmark.scope = "global";
        benchmark.prepare(); // one pass
        StepTally two = benchmark.step();
        SimulationResult one = Simulator.simulate(
                        new WorkingSetTrace().trace,
                        SimulationRequest.of(List.of(policy), List.of(WorkingSetTrace.ROWS)))
                .get(0);
        assertThat(new long[] {two.hits, two.promoted, two.staged})
                .isEqualTo(new long[] {2 * one.hits(), 2 * one.promoted(), 2 * one.staged()});
    }
}
