package org.expertpool.harness.run;

import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/**
 * The exact counts of a pool's cells, from the planner replayed over the trace without bytes.
 *
 * @param definition gives the windows
 * @param model gives the shape that a trace must have, and the bytes of a row
 */
record CellCounts(Definition definition, ModelGeometry model) {
    SimulationResult simulate(Cell cell, RoutingTrace trace) {
        requireSameShape(trace.shape());
        Window window = definition.window(cell);
        SimulationRequest request = SimulationRequest.of(List.of(cell.policy()), List.of(cell.rows()))
                .withScope(cell.scope())
                .withInitial(window.initial())
                .withControls(cell.controls())
                .withDecodeTokens(cell.decodeTokens())
                .withScore(window.score())
                .withResetAtSequence(window.resetAtSequence());
        return Simulator.simulate(trace, request).get(0);
    }

    void requireSameShape(TraceShape trace) {
        if (trace.layers() != model.layers() || trace.experts() != model.experts() || trace.topK() != model.topK()) {
            throw new BadInputException("trace has layers x experts, top-k " + trace.layers() + " x "
                    + trace.experts() + ", " + trace.topK() + ", expected " + model.layers() + " x "
                    + model.experts() + ", " + model.topK() + " as in model " + model.name());
        }
    }

    void put(ResultRow.Builder row, SimulationResult result) {
        row.put("policy", result.policy());
        row.put("effective_rows", result.effectiveRows());
        row.put("experts", model.experts());
        row.put("hit_ratio", result.hitRatio().orElse(Double.NaN));
        row.put("forwards", result.forwards());
        row.put("selections", result.selections());
        row.put("hits", result.hits());
        row.put("misses", result.misses());
        row.put("promoted", result.promoted());
        row.put("staged", result.staged());
        row.put("promoted_per_forward", perForward(result.promoted(), result));
        row.put("staged_per_forward", perForward(result.staged(), result));
        row.put("h2d_bytes_per_forward", bytesPerForward(result));
        row.put("partition_forwards", result.partitionForwards());
    }

    /** Expert bytes copied per planned forward; NaN without any. */
    double bytesPerForward(SimulationResult result) {
        return perForward(result.misses() * model.rowBytes(), result);
    }

    private static double perForward(long count, SimulationResult result) {
        return result.forwards() == 0 ? Double.NaN : (double) count / result.forwards();
    }
}
