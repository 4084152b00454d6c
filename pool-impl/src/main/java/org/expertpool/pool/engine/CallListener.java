package org.expertpool.pool.engine;

import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.route.Partition;

/** Is told how each layer call of a {@link PoolEngine} was served, before its experts are computed. */
public interface CallListener {
    /** A call that the planner planned; its copies are done. The plan is valid during this call alone. */
    void planned(StepPlan plan);

    /** A call wider than the planner, cut in two. */
    void partitioned(int layer, Partition partition);
}
