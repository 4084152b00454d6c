package org.expertpool.harness.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fits find the constants that made the times, stay at a minimum where times are noisy, and survive their file. */
class ProfileFitTest {
    private static final ModelGeometry MODEL = ModelPresets.load("qwen3.8-flash-next");
    private static final DeviceProfile H200 = DeviceProfile.load("h200");
    private static final List<String> FREE =
            List.of("moe_fixed_us", "overlap_us", "zero_copy_gb_per_s", "hbm_read_gb_per_s");

    @TempDir
    Path folder;

    private static ProfileConstant assumed(double value) {
        return new ProfileConstant(value, ProfileConstant.Kind.ASSUMED, "made up for a test");
    }

    /** Start and truth differ in all of {@link #FREE}. */
    private static DeviceProfile start() {
        return H200.with(Map.of("overlap_us", assumed(5)));
    }

    private static DeviceProfile truth() {
        return H200.with(Map.of(
                "moe_fixed_us", assumed(11.5),
                "overlap_us", assumed(9.25),
                "zero_copy_gb_per_s", assumed(50.6),
                "hbm_read_gb_per_s", assumed(4100)));
    }

    /** Forwards in which each layer call misses 0 or {@code misses} experts, alone and beside dense reads. */
    private static List<ProfileFit.Observation> observations(DeviceProfile made, double noise) {
        List<ProfileFit.Observation> seen = new ArrayList<>();
        for (int misses = 0; misses <= 4; misses++) {
            for (CostModel.Beside beside : List.of(CostModel.Beside.NOTHING, CostModel.Beside.DENSE_READ)) {
                StepHistogram steps = new StepHistogram(10);
                steps.add(10, 0);
                steps.add(10, misses);
                steps.add(10, misses);
                double sign = seen.size() % 2 == 0 ? 1 : -1;
                double micros = new CostModel(MODEL, made, beside).decodeMicros(GraphMode.FULL_DECODE, steps, 0);
                seen.add(new ProfileFit.Observation(
                        misses + " misses, " + beside,
                        micros * (1 + sign * noise),
                        profile ->
                                new CostModel(MODEL, profile, beside).decodeMicros(GraphMode.FULL_DECODE, steps, 0)));
            }
        }
        return seen;
    }

    @Test
    void findsTheConstantsThatMadeTheTimes() {
        DeviceProfile fitted = ProfileFit.fit(start(), FREE, observations(truth(), 0), "a test");
        for (String key : FREE) {
            assertThat(fitted.value(key)).as(key).isCloseTo(truth().value(key), within(1e-3 * truth().value(key)));
            assertThat(fitted.constants().get(key).kind()).isEqualTo(ProfileConstant.Kind.FITTED);
        }
        assertThat(fitted.value("moe_gb_per_s")).isEqualTo(H200.value("moe_gb_per_s"));
    }

    @Test
    void noiseMovesNoCellByMoreThanItself() {
        List<ProfileFit.Observation> noisy = observations(truth(), 0.02);
        DeviceProfile fitted = ProfileFit.fit(start(), FREE, noisy, "a test");
        double best = squares(fitted, noisy);
        assertThat(best).isLessThanOrEqualTo(squares(truth(), noisy));
        for (String key : FREE) {
            for (double factor : new double[] {0.99, 1.01}) {
                DeviceProfile beside = fitted.with(Map.of(key, assumed(fitted.value(key) * factor)));
                assertThat(squares(beside, noisy)).as(key + " x " + factor).isGreaterThan(best);
            }
        }
    }

    private static double squares(DeviceProfile profile, List<ProfileFit.Observation> seen) {
        return seen.stream()
                .mapToDouble(one -> Math.pow(Math.log1p(one.error(profile)), 2))
                .sum();
    }

    @Test
    void aWrittenProfileReadsBack() throws IOException {
        Path file = Files.writeString(folder.resolve("own.toml"), truth().toml("own", "a \"test\""));
        DeviceProfile read = DeviceProfile.load(file.toString());
        assertThat(read.name()).isEqualTo("own");
        assertThat(read.fittedOn()).isEqualTo("a \"test\"");
        assertThat(read.label()).isEqualTo(H200.label());
        for (String key : DeviceProfile.KEYS) {
            assertThat(read.value(key)).as(key).isCloseTo(truth().value(key), within(1e-5 * truth().value(key)));
            assertThat(read.constants().get(key).source())
                    .isEqualTo(truth().constants().get(key).source());
        }
    }

    @Test
    void saysWhatCannotBeFitted() {
        List<ProfileFit.Observation> seen = observations(truth(), 0);
        assertThatThrownBy(() -> ProfileFit.fit(H200, List.of("overlap_us"), seen, "a test"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("constant overlap_us is 0.0 in profile h200, expected more than 0 to fit it");
        assertThatThrownBy(() -> ProfileFit.fit(H200, List.of("speed"), seen, "a test"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("constant 'speed', expected one of memory_bytes");
        assertThatThrownBy(() -> ProfileFit.fit(start(), FREE, seen.subList(0, 3), "a test"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("3 measured cells, expected at least 4 for as many constants");
    }
}
