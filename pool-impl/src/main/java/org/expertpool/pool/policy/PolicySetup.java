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
 * @param profile selection counts by key for a static placement, {@code [layers * experts]}
 * @param firstUse for clairvoyant policies: number of the first event from here on that selects the key, or
 *     {@link RoutingEvent#NEVER}; asked at the start and at each reset
 */
public record PolicySetup(
        PoolConfig pool,
        Scope scope,
        Initial initial,
        PoolControls controls,
        Optional<long[]> profile,
        Optional<IntUnaryOperator> firstUse) {
    public PolicySetup {
        if (pool.poolRows() == 0) {
            throw new BadInputException("rows is " + pool.rows() + " with " + pool.experts()
                    + " experts per layer: the pool is off and holds nothing; expected at least topK = " + pool.topK());
        }
    }
}
