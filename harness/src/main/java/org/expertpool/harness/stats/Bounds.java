package org.expertpool.harness.stats;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;

/** What two bounds miss per layer: a placement frozen from the trace's first half, and Belady's clairvoyant one. */
final class Bounds {
    private final RoutingTrace trace;
    private final int rows;

    Bounds(RoutingTrace trace, int rows) {
        this.trace = trace;
        this.rows = rows;
    }

    /**
     * Reports both miss ratios.
     *
     * @param sequences sequences of the trace; static is scored on the half that it was not frozen from
     * @param steadyFrom first forward that counts for Belady
     */
    void report(long sequences, long steadyFrom, Consumer<Statistic> target) {
        ScoreWindow otherHalf = sequences > 1
                ? ScoreWindow.sequences(sequences / 2, Long.MAX_VALUE)
                : ScoreWindow.forwards(Math.max(1, trace.forwards() / 2), Long.MAX_VALUE);
        report("static", otherHalf, target);
        report("belady", ScoreWindow.forwards(steadyFrom, Long.MAX_VALUE), target);
    }

    private void report(String policy, ScoreWindow score, Consumer<Statistic> target) {
        SimulationRequest request = SimulationRequest.of(List.of(policy), List.of(rows))
                .withScope(Scope.LAYER)
                .withInitial(Initial.EMPTY)
                .withScore(score);
        SimulationResult result = Simulator.simulate(trace, request).get(0);
        if (result.selections() > 0) {
            double missRatio = (double) result.misses() / result.selections();
            target.accept(new Statistic(String.format(Locale.ROOT, "%s_miss_ratio_%d_rows", policy, rows), missRatio));
        }
    }
}
