package org.expertpool.harness.sim;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PlannerWidth;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;

/**
 * What to simulate on one trace: every policy at every number of rows.
 *
 * @param policies policy names or aliases
 * @param rows values of N, expert rows per layer
 * @param scope which rows a miss may take, where a policy's name does not say
 * @param initial placement before the first event, where a policy's name does not say
 * @param controls promotion controls of pool-semantics 3 by name; those not named keep their defaults, gate open
 * @param decodeTokens maxDecodeTokens of the planner's width; wider forwards take the partition path
 * @param score which part of the trace is counted
 * @param resetAtSequence whether placement and recency return to their start at every sequence boundary
 * @param profile selection counts for static, pinned and warm placements; absent: the first half of the trace
 */
public record SimulationRequest(
        List<String> policies,
        List<Integer> rows,
        Scope scope,
        Initial initial,
        Map<String, Integer> controls,
        int decodeTokens,
        ScoreWindow score,
        boolean resetAtSequence,
        Optional<ExpertProfile> profile) {
    public SimulationRequest {
        policies = List.copyOf(policies);
        rows = List.copyOf(rows);
        controls = Map.copyOf(controls);
        if (policies.isEmpty() || rows.isEmpty()) {
            throw new BadInputException("simulation: expected at least one policy and one number of rows");
        }
        if (decodeTokens < 1) {
            throw new BadInputException("decode tokens: " + decodeTokens + ", expected at least 1");
        }
    }

    /** The defaults of {@code simulate}: global scope, first-n start, default controls, everything counted. */
    public static SimulationRequest of(List<String> policies, List<Integer> rows) {
        return new SimulationRequest(
                policies, rows, Scope.GLOBAL, Initial.FIRST_N, Map.of(), 1, ScoreWindow.all(), false, Optional.empty());
    }

    /** S: lanes of the widest forward that is planned. */
    int plannerLanes(TraceShape shape) {
        return PlannerWidth.of(shape.topK(), decodeTokens).lanes();
    }

    public SimulationRequest withScope(Scope other) {
        return new SimulationRequest(
                policies, rows, other, initial, controls, decodeTokens, score, resetAtSequence, profile);
    }

    public SimulationRequest withInitial(Initial other) {
        return new SimulationRequest(
                policies, rows, scope, other, controls, decodeTokens, score, resetAtSequence, profile);
    }

    public SimulationRequest withControls(Map<String, Integer> other) {
        return new SimulationRequest(
                policies, rows, scope, initial, other, decodeTokens, score, resetAtSequence, profile);
    }

    public SimulationRequest withDecodeTokens(int other) {
        return new SimulationRequest(policies, rows, scope, initial, controls, other, score, resetAtSequence, profile);
    }

    public SimulationRequest withScore(ScoreWindow other) {
        return new SimulationRequest(
                policies, rows, scope, initial, controls, decodeTokens, other, resetAtSequence, profile);
    }

    public SimulationRequest withResetAtSequence(boolean other) {
        return new SimulationRequest(policies, rows, scope, initial, controls, decodeTokens, score, other, profile);
    }

    public SimulationRequest withProfile(ExpertProfile other) {
        return new SimulationRequest(
                policies, rows, scope, initial, controls, decodeTokens, score, resetAtSequence, Optional.of(other));
    }
}
