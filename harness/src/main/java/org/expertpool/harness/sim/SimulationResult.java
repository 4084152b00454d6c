package org.expertpool.harness.sim;

import java.util.OptionalDouble;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;

/**
 * Exact counts of one (policy, rows) pair over the scored part of a trace. Experts are counted distinct per step.
 * Forwards wider than the planner are in the {@code partition} counts alone.
 *
 * @param policy full policy name
 * @param rowsPerLayer N as asked for
 * @param effectiveRows {@code min(N, E - 1)}
 * @param capacityRows layers x effectiveRows
 * @param forwards scored forwards that the planner planned
 * @param tokens of those forwards
 * @param selections {@code hits + misses}
 * @param misses {@code promoted + staged}
 * @param exchanged experts brought in without a miss, by policies that exchange between events
 * @param partitionHits distinct experts of wide forwards read from the bank
 * @param partitionMisses distinct experts of wide forwards read from the host
 * @param steps scored planned steps by experts selected and missed
 */
public record SimulationResult(
        String policy,
        Scope scope,
        Initial initial,
        int rowsPerLayer,
        int effectiveRows,
        long capacityRows,
        long forwards,
        long tokens,
        long selections,
        long hits,
        long misses,
        long promoted,
        long staged,
        long exchanged,
        long partitionForwards,
        long partitionSelections,
        long partitionHits,
        long partitionMisses,
        StepHistogram steps) {
    /** Share of selections that were resident; empty where nothing was selected. */
    public OptionalDouble hitRatio() {
        return selections == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) hits / selections);
    }

    /** Experts brought into the bank per 100 selections; empty where nothing was selected. */
    public OptionalDouble insertsPerHundred() {
        return selections == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(100.0 * (promoted + exchanged) / selections);
    }
}
