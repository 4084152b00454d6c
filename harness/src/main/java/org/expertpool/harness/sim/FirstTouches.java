package org.expertpool.harness.sim;

import java.util.Arrays;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** Counts scored first selections of experts that were not resident at the start: misses of every policy without prefetch. */
public final class FirstTouches implements StepObserver {
    private final int experts;
    private final boolean[] resident; // [L*E] at the start
    private final boolean[] touched; // [L*E] since the start
    private boolean scored;
    private long count;

    /** @param pool gives layers and experts */
    public FirstTouches(PoolConfig pool) {
        experts = pool.experts();
        resident = new boolean[pool.keys()];
        touched = new boolean[pool.keys()];
    }

    /** Such selections so far. */
    public long count() {
        return count;
    }

    @Override
    public void placed(PlacementPolicy placed) {
        Arrays.fill(touched, false);
        for (int key = 0; key < resident.length; key++) {
            resident[key] = placed.isResident(key / experts, key % experts);
        }
    }

    @Override
    public void forward(long forward, long sequence, boolean startsSequence, int tokens, boolean isScored) {
        scored = isScored;
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        for (int i = 0; i < event.size; i++) {
            int key = event.layer * experts + event.experts[i];
            count += scored && !touched[key] && !resident[key] ? 1 : 0;
            touched[key] = true;
        }
    }
}
