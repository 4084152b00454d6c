package org.expertpool.harness.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Optional;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;

/** The adviser against the models it stands on, and its interval where the parts are equal. */
class AdviserTest {
    private static final DeviceProfile H200 = DeviceProfile.load("h200");
    private static final ModelGeometry TINY = new ModelGeometry("tiny", 2, 24, 2, 64, 64, 100, 1000, 0);

    /** Sequences that all select the same: layer 0 cycles over 4 experts, layer 1 over 12, two a token. */
    private static InMemoryTrace cycles(int sequences) {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(new TraceShape(2, 24, 2, false), "cycles");
        for (int sequence = 0; sequence < sequences; sequence++) {
            for (int f = 0; f < 12; f++) {
                builder.decode(f == 0, f, 2 * f % 4, 2 * f % 4 + 1, 2 * f % 12, 2 * f % 12 + 1);
            }
        }
        return builder.build();
    }

    private static long memoryFor(int rows) {
        var capacity = new CapacityModel(TINY, 1L << 40, H200, CapacityModel.Options.SEED);
        long needed = capacity.budget(rows, 4096).usableBytes()
                - capacity.budget(rows, 4096).freeBytes();
        return (long) ((needed + TINY.rowBytes()) / H200.value("usable_fraction")) + 1;
    }

    @Test
    void equalPartsHaveNoInterval() {
        Adviser adviser = new Adviser(new Pricing(TINY, Optional.of(H200), 4096), memoryFor(5), 1);
        assertThat(adviser.rowsPerLayer()).isEqualTo(5);
        SimulationRequest request =
                SimulationRequest.of(List.of("lru"), List.of(5)).withScore(ScoreWindow.sequences(4, Long.MAX_VALUE));
        Advice advice = adviser.advise(cycles(16), request, "lru");
        assertThat(advice.resampled()).isEqualTo("12 sequences");
        assertThat(advice.low()).isCloseTo(advice.tokensPerSecond(), within(1e-9 * advice.tokensPerSecond()));
        assertThat(advice.high()).isCloseTo(advice.low(), within(1e-9 * advice.low()));
        // 10 rows for a cycle of 4 experts, which stay, and one of 12, which LRU cannot hold: half of all miss.
        assertThat(advice.hitRatio()).isEqualTo(0.5);
        double step = new CostModel(TINY, H200).poolLayerMicros(2, 0) + new CostModel(TINY, H200).poolLayerMicros(2, 2);
        assertThat(advice.time().planner()
                        + advice.time().copy()
                        + advice.time().moe())
                .isCloseTo(step, within(1e-9));
        assertThat(advice.tokensPerSecond()).isCloseTo(1e6 / advice.time().total(), within(1e-6));
        assertThat(advice.limits())
                .hasSize(4)
                .isSortedAccordingTo((a, b) -> Double.compare(b.tokensPerSecond(), a.tokensPerSecond()));
        Advice again = adviser.advise(cycles(16), request, "lru");
        assertThat(again).isEqualTo(advice);
    }

    @Test
    void saysWhatTheModelsSayOfTheCalibratedTrace() {
        ModelGeometry model = ModelPresets.load("qwen3.8-flash-next");
        DeviceProfile card = DeviceProfile.load("rtx-pro-6000-48gib");
        long memory = 48L << 30;
        Adviser adviser = new Adviser(new Pricing(model, Optional.of(card), 4096), memory, 1);
        int rows = new CapacityModel(model, memory, card, CapacityModel.Options.SEED)
                .rowsPerLayer(4096)
                .getAsInt();
        try (RoutingTrace trace = SyntheticTraces.preset("qwen3.8-flash-next-prose", 700, 1)) {
            SimulationRequest request = SimulationRequest.of(List.of("lru"), List.of(rows))
                    .withScore(ScoreWindow.forwards(400, Long.MAX_VALUE));
            Advice advice = adviser.advise(trace, request, "lru");
            SimulationResult simulated = Simulator.simulate(trace, request).get(0);
            double micros = new CostModel(model, card).decodeMicros(GraphMode.FULL_DECODE, simulated.steps(), 4096);
            assertThat(advice.rowsPerLayer()).isEqualTo(rows);
            assertThat(advice.tokensPerSecond()).isCloseTo(1e6 / micros, within(1e-9));
            assertThat(advice.low()).isLessThan(advice.tokensPerSecond());
            assertThat(advice.high()).isGreaterThan(advice.tokensPerSecond());
            assertThat(advice.hitRatio()).isEqualTo(simulated.hitRatio().getAsDouble());
        }
    }

    @Test
    void refusesWhatDoesNotFit() {
        Adviser adviser = new Adviser(new Pricing(TINY, Optional.of(H200), 4096), 1 << 20, 1);
        assertThatThrownBy(adviser::rowsPerLayer)
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "memory 1048576 bytes: not even 2 rows per layer of tiny fit beside a context of 4096 tokens;"
                                + " see capacity");
    }
}
