package org.expertpool.harness.sim;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;

/** Replays a trace through policies: the exact planner semantics without bytes. */
public final class Simulator {
    private Simulator() {}

    /**
     * Simulates every (policy, rows) pair of the request.
     *
     * @return a result per pair, policies in the order asked for, rows within
     */
    public static List<SimulationResult> simulate(RoutingTrace trace, SimulationRequest request) {
        return new ArrayList<>();
    }
}
