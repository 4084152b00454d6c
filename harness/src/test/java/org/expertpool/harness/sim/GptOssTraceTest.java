package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.Traces;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;

/**
 * Miss ratios on the real routing of gpt-oss-20b: sequences in file order, contents carried over, sequences 76 to 151
 * scored, per-layer scope, first-n start (an empty start gives the same to a hundredth of a percent). LRU's figures are
 * those of an independent implementation, Belady's those of {@code belady_oracle.py} in the test resources.
 */
class GptOssTraceTest {
    private static final String FILE = "data/traces/gptoss20b-decode-routes.csv.gz";
    private static final List<Integer> ROWS = List.of(10, 13, 16, 20);

    @Test
    void missRatiosAreThoseOfOtherPrograms() throws IOException {
        Path file = shared().resolve(FILE);
        assumeTrue(Files.isRegularFile(file), "skipped: no trace at " + file + " (-Dshared.dir=...)");
        try (RoutingTrace trace = Traces.open(file)) {
            List<SimulationResult> results = Simulator.simulate(
                    trace,
                    SimulationRequest.of(List.of("lru", "belady", "belady-forced"), ROWS)
                            .withScope(Scope.LAYER)
                            .withScore(ScoreWindow.parse("sequence=76")));
            assertMissPercent(results.subList(0, 4), 0.006, 26.34, 16.78, 10.20, 4.81);
            assertMissPercent(results.subList(4, 8), 0.0001, 13.4296, 7.8772, 4.5071, 2.0004);
            assertMissPercent(results.subList(8, 12), 0.0001, 15.4804, 8.8227, 4.9637, 2.1722);
        }
    }

    private static void assertMissPercent(List<SimulationResult> results, double tolerance, double... percent) {
        for (int i = 0; i < percent.length; i++) {
            SimulationResult result = results.get(i);
            assertThat(100.0 * result.misses() / result.selections())
                    .as(result.policy() + " at " + result.rowsPerLayer() + " rows")
                    .isCloseTo(percent[i], within(tolerance));
        }
    }

    private static Path shared() {
        String property = System.getProperty("shared.dir");
        if (property != null) {
            return Path.of(property);
        }
        Path root = Path.of("").toAbsolutePath();
        while (root.getParent() != null && !Files.isDirectory(root.resolve(".mvn"))) {
            root = root.getParent();
        }
        return root.resolveSibling("shared");
    }
}
