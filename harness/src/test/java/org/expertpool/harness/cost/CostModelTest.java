package org.expertpool.harness.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The H200 profile against layer times that peers were measured at, and the graph modes against hand arithmetic. */
class CostModelTest {
    private final CostModel h200 = new CostModel(ModelPresets.load("qwen3.8-flash-next"), DeviceProfile.load("h200"));

    /** Composite of FreeToken's planner and copy with Marlin GEMMs, 258 rows a layer: not what the profile was fitted on. */
    @ParameterizedTest
    @CsvSource({"0, 41.6", "1, 103.7", "2, 155.9", "5, 321.6", "10, 593.9"})
    void layerTimeIsWithinThreePercentOfTheMeasuredComposite(int misses, double measuredMicros) {
        assertThat(h200.poolLayerMicros(10, misses)).isCloseTo(measuredMicros, within(0.03 * measuredMicros));
    }

    /** Marlin over UVA at one token: 568 to 572 us a layer. */
    @Test
    void uvaLayerTimeIsWithinOnePercentOfTheMeasuredOne() {
        assertThat(h200.uvaLayerMicros(10)).isCloseTo(570, within(5.7));
    }

    @Test
    void meanOverLayerCallsWeighsEachCallOnce() {
        StepHistogram allHit = steps(0);
        StepHistogram mixed = steps(0, 1);
        double hit = h200.decodeMicros(GraphMode.FULL, allHit, 0);
        double half = h200.decodeMicros(GraphMode.FULL, mixed, 0);
        assertThat(half - hit)
                .isCloseTo(24 * (h200.poolLayerMicros(10, 1) - h200.poolLayerMicros(10, 0)), within(1e-6));
    }

    /** One miss takes 59 us of the H200's link; ten without overlap ten times 54. */
    @Test
    void whatRunsBesideCopiesIsTakenOffEachCallThatMissesInEveryMode() {
        DeviceProfile other = DeviceProfile.load("h200")
                .with(Map.of(
                        "overlap_us", new ProfileConstant(7, ProfileConstant.Kind.ASSUMED, "a test"),
                        "launch_us", new ProfileConstant(0.1, ProfileConstant.Kind.ASSUMED, "a test")));
        CostModel overlapping = new CostModel(ModelPresets.load("qwen3.8-flash-next"), other);
        for (GraphMode mode : new GraphMode[] {GraphMode.NONE, GraphMode.FULL_DECODE}) {
            assertThat(h200.decodeTime(mode, steps(0, 1, 10), 0).copy()
                            - overlapping.decodeTime(mode, steps(0, 1, 10), 0).copy())
                    .isCloseTo(48 * 7 * 2 / 3.0, within(1e-6));
        }
    }

    @Test
    void hostLaunchesBoundTheEagerModeAndGraphsDoNot() {
        StepHistogram allHit = steps(0);
        double none = h200.decodeMicros(GraphMode.NONE, allHit, 0);
        double full = h200.decodeMicros(GraphMode.FULL_DECODE, allHit, 0);
        // 48 layers, 20 launches each, 8.1 us.
        assertThat(none).isCloseTo(48 * 20 * 8.1, within(1e-6));
        assertThat(full).isLessThan(none).isEqualTo(h200.decodeMicros(GraphMode.FULL, allHit, 0));
    }

    @Test
    void contextCostsItsBytesOverMemoryBandwidth() {
        StepHistogram allHit = steps(0);
        double without = h200.decodeMicros(GraphMode.FULL, allHit, 0);
        double with = h200.decodeMicros(GraphMode.FULL, allHit, 262_144);
        assertThat(with - without).isCloseTo(6.55 * (1L << 30) / 4490e3, within(2.0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"h200", "h200-pool", "rtx-pro-6000-48gib"})
    void everyConstantStatesItsSource(String name) {
        DeviceProfile profile = DeviceProfile.load(name);
        assertThat(profile.name()).isEqualTo(name);
        assertThat(profile.constants().keySet()).containsExactlyInAnyOrderElementsOf(DeviceProfile.KEYS);
        assertThat(profile.constants().values())
                .allSatisfy(c -> assertThat(c.source()).hasSizeGreaterThan(8));
    }

    @Test
    void unknownProfileNamesTheKnownOnes() {
        assertThatThrownBy(() -> DeviceProfile.load("h100"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("h100")
                .hasMessageContaining("rtx-pro-6000-48gib");
    }

    /** One layer call of ten experts for each number of misses given. */
    private static StepHistogram steps(int... misses) {
        var histogram = new StepHistogram(10);
        for (int missed : misses) {
            histogram.add(10, missed);
        }
        return histogram;
    }
}
