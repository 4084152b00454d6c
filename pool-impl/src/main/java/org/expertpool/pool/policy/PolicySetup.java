package org.expertpool.pool.policy;

import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;

/**
 * What a policy is set up with.
 *
 * @param pool layers, experts and rows
 * @param scope which rows a miss may take
 * @param initial placement before the first event
 * @param controls the planner's controls; bounds and static placements take no notice of them
 * @param pinnedPercent share of each group's rows that hold the profile's most selected experts for good, 0 to 100
 * @param profile selection counts by key, {@code [layers * experts]}: for static, pinned and warm placements
 * @param layerRows rows of each layer with {@link Scope#MISS_CURVE}, {@code [layers]}; they add up to {@code L*n}
 * @param firstUse for clairvoyant policies: number of the first event from here on that selects the key, or
 *     {@link RoutingEvent#NEVER}; asked at the start and at each reset
 */
public record PolicySetup(
        PoolConfig pool,
        Scope scope,
        Initial initial,
        PoolControls controls,
        int pinnedPercent,
        Optional<long[]> profile,
        Optional<int[]> layerRows,
        Optional<IntUnaryOperator> firstUse) {
    public PolicySetup {
        if (pool.poolRows() == 0) {
            throw new BadInputException("rows is " + pool.rows() + " with " + pool.experts()
                    + " experts per layer: the pool is off and holds nothing; expected at least topK = " + pool.topK());
        }
    }

    /** Nothing pinned and nothing known of the trace. */
    public static PolicySetup of(PoolConfig pool, Scope scope, Initial initial, PoolControls controls) {
        return new PolicySetup(pool, scope, initial, controls, 0, Optional.empty(), Optional.empty(), Optional.empty());
    }

    public PolicySetup withScope(Scope other) {
        return new PolicySetup(pool, other, initial, controls, pinnedPercent, profile, layerRows, firstUse);
    }

    public PolicySetup withInitial(Initial other) {
        return new PolicySetup(pool, scope, other, controls, pinnedPercent, profile, layerRows, firstUse);
    }

    public PolicySetup withControls(PoolControls other) {
        return new PolicySetup(pool, scope, initial, other, pinnedPercent, profile, layerRows, firstUse);
    }

    public PolicySetup withPinnedPercent(int other) {
        return new PolicySetup(pool, scope, initial, controls, other, profile, layerRows, firstUse);
    }

    public PolicySetup withProfile(long[] counts) {
        return new PolicySetup(pool, scope, initial, controls, pinnedPercent, Optional.of(counts), layerRows, firstUse);
    }

    public PolicySetup withLayerRows(int[] rows) {
        return new PolicySetup(pool, scope, initial, controls, pinnedPercent, profile, Optional.of(rows), firstUse);
    }

    public PolicySetup withFirstUse(IntUnaryOperator other) {
        return new PolicySetup(pool, scope, initial, controls, pinnedPercent, profile, layerRows, Optional.of(other));
    }
}
