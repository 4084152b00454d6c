package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.PrefillChunks;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;

/** Counts where wide calls fill the pool: worked out by hand, and beside the simulator where nothing may differ. */
class FillingReplayTest {
    private static final TraceShape ONE_LAYER = new TraceShape(1, 4, 1, false);

    /** One chunk of lanes 2 2 2 3 0, then 2, 0, 3 and 2 decoded; rows 0 and 1 hold experts 0 and 1 at the start. */
    private static RoutingTrace chunkThenDecode() {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(ONE_LAYER, "by hand");
        builder.forward(new ForwardHeader(true, true, 0, 5), new int[] {2, 2, 2, 3, 0}, null);
        return builder.decode(false, 5, 2)
                .decode(false, 6, 0)
                .decode(false, 7, 3)
                .decode(false, 8, 2)
                .build();
    }

    private static SimulationRequest rows(int rows) {
        return SimulationRequest.of(List.of("evict.lru"), List.of(rows));
    }

    @Test
    void keepsTheExpertWithTheMostLanes() {
        // The chunk: 2 has 3 lanes and takes the row of 1, which has none; 3 has one lane, no more than 0. Then 2 and 0
        // hit; 3 evicts 2, used before 0; 2 evicts 0.
        SimulationResult result = FillingReplay.run(chunkThenDecode(), rows(2), 4);
        assertThat(result.partitionHits()).isEqualTo(1);
        assertThat(result.partitionMisses()).isEqualTo(2);
        assertThat(result.exchanged()).isEqualTo(1);
        assertThat(result.hits()).isEqualTo(2);
        assertThat(result.promoted()).isEqualTo(2);
        assertThat(result.staged()).isZero();
        assertThat(result.forwards()).isEqualTo(4);
        assertThat(result.partitionForwards()).isEqualTo(1);
        assertThat(result.steps().steps(1, 1)).isEqualTo(2);
    }

    @Test
    void countsOnlyTheWindow() {
        SimulationResult result =
                FillingReplay.run(chunkThenDecode(), rows(2).withScore(ScoreWindow.forwards(2, 4)), 4);
        assertThat(result.partitionForwards()).isZero();
        assertThat(result.exchanged()).isZero();
        assertThat(result.hits()).isEqualTo(1);
        assertThat(result.promoted()).isEqualTo(1);
    }

    @Test
    void withoutWideCallsIsTheSimulator() {
        RoutingTrace trace = SyntheticTraces.preset("tiny", 200, 3);
        SimulationRequest request = rows(7).withControls(Map.of("promoteInterval", 2, "promoteLimit", 1))
                .withScore(ScoreWindow.forwards(20, 150));
        assertThat(FillingReplay.run(trace, request, 5))
                .usingRecursiveComparison()
                .isEqualTo(Simulator.simulate(trace, request).get(0));
    }

    @Test
    void whereNothingMayStayWideCallsStillStamp() {
        InMemoryTrace.Builder copy = InMemoryTrace.builder(new TraceShape(3, 16, 4, true), "chunks");
        PrefillChunks.copy(SyntheticTraces.preset("tiny", 300, 3), 8, 200, copy);
        SimulationResult none = FillingReplay.run(copy.build(), rows(7), 0);
        assertThat(none.exchanged()).isZero();
        SimulationResult some = FillingReplay.run(copy.build(), rows(7), 16);
        assertThat(some.exchanged()).isPositive();
        assertThat(some.selections()).isEqualTo(none.selections());
        assertThat(some.partitionSelections()).isEqualTo(none.partitionSelections());
    }

    @Test
    void refusesWhatTheDevicesPoolIsNot() {
        SimulationRequest fifo = SimulationRequest.of(List.of("evict.fifo"), List.of(2));
        assertThatThrownBy(() -> FillingReplay.run(chunkThenDecode(), fifo, 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage("policy is evict.fifo, expected evict.lru where wide calls fill the pool");
    }
}
