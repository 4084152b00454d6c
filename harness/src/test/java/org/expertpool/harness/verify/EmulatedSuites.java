package org.expertpool.harness.verify;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.expertpool.harness.bench.ChunkRouting;
import org.expertpool.harness.bench.DeviceLayers;
import org.expertpool.harness.bench.PrefillLayers;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.harness.verify.EngineConformance.Suite;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;

/**
 * What the child JVM of {@link DeviceSuitesTest} runs: suites of {@code verify} at shapes that a CPU can do. Prints what
 * differs, and how much was compared.
 */
final class EmulatedSuites {
    private static final ExpertRowLayout ROW = new ExpertRowLayout(64, 64);
    private static final EngineShape ALL_WIDTHS =
            new EngineShape("2x5, top-2", 2, 5, 2, ROW, List.of(2, 3), 3, 0, List.of(1, 5), List.of(9));
    private static final EngineShape ONE_WIDTH =
            new EngineShape("2x5, top-2", 2, 5, 2, ROW, List.of(2), 3, 0, List.of(1), List.of(3));
    private static final ModelGeometry GEOMETRY = new ModelGeometry("2x7", 2, 7, 2, 64, 64, 0, 0, 0);
    private static final int PLANNER_STEPS = 60;

    private int compared;
    private int different;

    private EmulatedSuites() {}

    /** A suite's name, or {@code engines} for all that compare engines. */
    public static void main(String[] arguments) {
        EmulatedSuites suites = new EmulatedSuites();
        try {
            suites.run(arguments[0]);
        } catch (IllegalStateException broken) {
            System.out.println("broke off: " + broken.getMessage());
        }
        System.out.println(suites.compared + " compared, " + suites.different + " different");
    }

    private void run(String suite) {
        switch (suite) {
            case "engines" -> engines(ALL_WIDTHS, EnumSet.allOf(Suite.class));
            case "fp16" -> engines(ONE_WIDTH.fp16(), EnumSet.of(Suite.DECODE, Suite.FLOAT64));
            case "planners" -> planners();
            case "conversion" -> conversion();
            case "layers" -> layers();
            case "prefill" -> prefill();
            default -> engines(ONE_WIDTH, EnumSet.of(Suite.valueOf(suite)));
        }
    }

    private void engines(EngineShape shape, Set<Suite> asked) {
        EngineConformance.run(shape, asked, (kind, name, outcome, seconds) -> ended(name, outcome));
    }

    private void planners() {
        PoolConfig config = new PoolConfig(3, 8, 2, 3, 4);
        List<PlannerConformance.Case> cases = List.of(
                new PlannerConformance.Case("eager", config, DevicePlanner.Launch.EAGER, PLANNER_STEPS, 1),
                new PlannerConformance.Case("graph", config, DevicePlanner.Launch.GRAPH, PLANNER_STEPS, 2));
        PlannerConformance.run(cases, 1, result -> ended(result.subject().name(), result.outcome()));
    }

    private void conversion() {
        ConversionConformance.run(List.of(ROW), 1, (kind, name, outcome, seconds) -> ended(name, outcome));
    }

    /** Times mean nothing here, but the misses that are imposed must come. */
    private void layers() {
        compared = new DeviceLayers(GEOMETRY, ActivationType.FP16, 3, 2, HostRows.inMemory(line -> {}))
                .run()
                .times()
                .size();
    }

    private void prefill() {
        for (ActivationType type : ActivationType.values()) {
            ChunkRouting routing = new ChunkRouting(Optional.empty());
            compared += new PrefillLayers(GEOMETRY, type, List.of(0, 3), routing, 1, HostRows.inMemory(line -> {}))
                    .run(List.of(9))
                    .times()
                    .size();
        }
    }

    private void ended(String name, Verification.Outcome outcome) {
        compared++;
        if (outcome.difference().isPresent()) {
            different++;
            System.out.println(name + ": " + outcome.verdict());
        }
    }
}
