package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;

/** Results are the same on any number of threads, and as if each policy had been asked for alone. */
class ParallelSimulationTest {
    private static final List<String> POLICIES = List.of(
            "lru",
            "belady",
            "random(3)",
            "static",
            "lfru+scope.layer",
            "static-leaky",
            "arc",
            "half-pinned",
            "belady-forced",
            "lru+scope.miss-curve",
            "promote.probability(0.5,2)+start.profile",
            "heat.exchange(0.9,3,1,2)",
            "belady+scope.layer+start.profile");

    private final RoutingTrace trace = TestTraces.random(11, 3, 20, 3, 300, 25, 5);

    private List<String> csv(SimulationRequest request, int threads) {
        return List.of(
                SimulationCsv.write(request, Simulator.simulate(trace, request, threads), result -> Valuation.NONE)
                        .split("\n"));
    }

    @Test
    void theNumberOfThreadsHasNoInfluence() {
        for (boolean reset : new boolean[] {false, true}) {
            SimulationRequest request = SimulationRequest.of(POLICIES, List.of(4, 9))
                    .withResetAtSequence(reset)
                    .withScore(ScoreWindow.sequences(2, Long.MAX_VALUE));
            List<String> one = csv(request, 1);
            assertThat(csv(request, 2)).isEqualTo(one);
            assertThat(csv(request, 7)).isEqualTo(one);
            for (int i = 0; i < POLICIES.size(); i++) {
                SimulationRequest alone = SimulationRequest.of(List.of(POLICIES.get(i)), List.of(4, 9))
                        .withResetAtSequence(reset)
                        .withScore(request.score());
                assertThat(csv(alone, 1).subList(1, 3)).isEqualTo(one.subList(1 + 2 * i, 3 + 2 * i));
            }
        }
    }

    @Test
    void theSettledScopeAndStartStandInTheResult() {
        List<String> rows = csv(SimulationRequest.of(List.of("lru+scope.layer+start.profile"), List.of(4)), 1);
        assertThat(rows.get(1)).startsWith("evict.lru+scope.layer+start.profile,layer,profile,4,4,12,");
    }

    @Test
    void aProfileThatNoPolicyReadsIsRefused() {
        SimulationRequest request = SimulationRequest.of(List.of("lru", "fifo"), List.of(4))
                .withProfile(new ExpertProfile(3, 20, new long[60]));
        assertThatThrownBy(() -> csv(request, 2))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("no policy reads it");
    }
}
