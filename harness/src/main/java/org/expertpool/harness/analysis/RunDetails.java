package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.sim.ObservedRun;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.harness.trace.RoutingTrace;

/** Takes runs apart, each under a name, and each trace they go through, into tidy tables. */
public final class RunDetails {
    private final int stretchForwards;
    private final RunTables parts = new RunTables(List.of("cell"));
    private final List<Table> locality = new ArrayList<>();

    /** @param stretchForwards forwards per line over time */
    public RunDetails(int stretchForwards) {
        this.stretchForwards = stretchForwards;
    }

    /**
     * Replays one run.
     *
     * @param name of the run, in the {@code cell} column
     * @param request its one policy and number of rows, and how to count
     * @param withLocality whether the trace's own tables are taken as well: working sets, reuse distances, lag overlap
     */
    public void add(String name, RoutingTrace trace, SimulationRequest request, boolean withLocality) {
        WorkingSets workingSets = new WorkingSets(trace.shape().layers());
        Reuse reuse = new Reuse(trace.shape().layers(), trace.shape().experts());
        Overlap overlap = new Overlap(trace.shape().layers());
        List<StepObserver> others = withLocality ? List.of(workingSets, reuse, overlap) : List.of();
        ObservedRun run = new ObservedRun(
                trace, request, request.policies().get(0), request.rows().get(0));
        parts.add(List.of(name), RunCounts.of(run, stretchForwards, others));
        if (withLocality) {
            locality.addAll(List.of(workingSets.table(), reuse.table(), overlap.table()));
        }
    }

    /** What was found. */
    public List<Table> tables() {
        List<Table> tables = new ArrayList<>(parts.tables());
        tables.addAll(locality);
        return tables;
    }
}
