package org.expertpool.harness.run;

import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.FillingReplay;
import org.expertpool.harness.sim.Gap;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.model.ModelGeometry;

/**
 * The exact counts of a pool's cells, from the planner replayed over the trace without bytes.
 *
 * @param definition gives the windows
 * @param model gives the shape that a trace must have, and the bytes of a row
 */
record CellCounts(Definition definition, ModelGeometry model) {
    SimulationResult simulate(Cell cell, RoutingTrace trace) {
        SimulationRequest request = request(cell, trace);
        return cell.prefillPromote() > 0
                ? FillingReplay.run(trace, request, cell.prefillPromote())
                : Simulator.simulate(trace, request).get(0);
    }

    /** What a cell asks of a trace; refuses one of another shape than the model's. */
    SimulationRequest request(Cell cell, RoutingTrace trace) {
        requireSameShape(trace.shape());
        Window window = definition.window(cell);
        return SimulationRequest.of(List.of(cell.policy()), List.of(cell.rows()))
                .withScope(cell.scope())
                .withInitial(window.initial())
                .withControls(cell.controls())
                .withDecodeTokens(cell.decodeTokens())
                .withScore(window.score())
                .withResetAtSequence(window.resetAtSequence());
    }

    void requireSameShape(TraceShape trace) {
        if (trace.layers() != model.layers() || trace.experts() != model.experts() || trace.topK() != model.topK()) {
            throw new BadInputException("trace has layers x experts, top-k " + trace.layers() + " x "
                    + trace.experts() + ", " + trace.topK() + ", expected " + model.layers() + " x "
                    + model.experts() + ", " + model.topK() + " as in model " + model.name());
        }
    }

    /** Holds a count that a pool's own plans gave to the simulation's. */
    static void requireSame(String what, long planned, long simulated) {
        if (planned != simulated) {
            throw new PoolFailureException(
                    what + " of the pool's own plans: " + planned + ", expected " + simulated + " as simulated");
        }
    }

    void put(ResultRow.Builder row, Cell cell, SimulationResult result) {
        row.put("policy", result.policy());
        row.put("scope", result.scope().toString()); // a policy's name may set it, and the start
        row.put("initial", result.initial().toString());
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
        row.put("h2d_bytes_per_forward", bytesPerForward(cell, result));
        row.put("partition_forwards", result.partitionForwards());
        row.put("tokens", result.tokens());
        row.put("exchanged", result.exchanged());
        row.put("inserts_per_100", per(100 * (result.promoted() + exchanged(cell, result)), result.selections()));
        row.put("partition_misses", result.partitionMisses());
        row.put("h2d_bytes_per_token", per(bytes(cell, result), result.tokens()));
    }

    /** Expert bytes copied per planned forward; NaN without any. */
    double bytesPerForward(Cell cell, SimulationResult result) {
        return perForward(bytes(cell, result), result);
    }

    private long bytes(Cell cell, SimulationResult result) {
        return Math.multiplyExact(result.misses() + exchanged(cell, result), model.rowBytes());
    }

    /** Rows exchanged between planned forwards. What wide calls fill a pool with crossed the link for them, not for decode. */
    private static long exchanged(Cell cell, SimulationResult result) {
        return cell.prefillPromote() > 0 ? 0 : result.exchanged();
    }

    void put(ResultRow.Builder row, Gap gap) {
        row.put("compulsory_misses", gap.compulsory());
        row.put("capacity_misses", gap.capacity());
        row.put("admission_misses", gap.admission());
        row.put("victim_misses", gap.victim());
    }

    private static double perForward(long count, SimulationResult result) {
        return per(count, result.forwards());
    }

    private static double per(long count, long of) {
        return of == 0 ? Double.NaN : (double) count / of;
    }
}
