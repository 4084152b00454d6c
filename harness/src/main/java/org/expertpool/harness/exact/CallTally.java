package org.expertpool.harness.exact;

import java.util.Arrays;
import org.expertpool.pool.engine.CallListener;
import org.expertpool.pool.plan.Lanes;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.route.Partition;

/** Counts of the layer calls that a pool served, taken from its planner's own plans; nothing before {@link #begin}. */
public final class CallTally implements CallListener {
    private boolean counting;
    private long forwards;
    private long hits;
    private long promoted;
    private long staged;
    private long partitionForwards;
    private long partitionHits;
    private long partitionMisses;

    /** Counts from here on. */
    public void begin() {
        counting = true;
    }

    @Override
    public void planned(StepPlan plan) {
        if (counting) {
            forwards += plan.layer() == 0 ? 1 : 0;
            hits += plan.hits();
            promoted += plan.promoted();
            staged += plan.staged();
        }
    }

    @Override
    public void partitioned(int layer, Partition partition) {
        if (counting) {
            partitionForwards += layer == 0 ? 1 : 0;
            partitionHits += distinct(partition.bankIds());
            partitionMisses += distinct(partition.hostIds());
        }
    }

    private static long distinct(int[] ids) {
        return Arrays.stream(ids).filter(id -> id != Lanes.PADDING).distinct().count();
    }

    /** Forwards that the planner planned. */
    public long forwards() {
        return forwards;
    }

    /** Distinct experts that were resident, over all planned calls. */
    public long hits() {
        return hits;
    }

    public long promoted() {
        return promoted;
    }

    public long staged() {
        return staged;
    }

    /** Forwards that were cut in two. */
    public long partitionForwards() {
        return partitionForwards;
    }

    /** Distinct experts of those that were read from the bank. */
    public long partitionHits() {
        return partitionHits;
    }

    /** Distinct experts of those that were read from the host source. */
    public long partitionMisses() {
        return partitionMisses;
    }
}
