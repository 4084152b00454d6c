package org.expertpool.pool.engine;

import java.util.Arrays;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.route.Partition;

/**
 * The pool: calls of at most S lanes are planned and read bank rows alone (pool-semantics 5), wider ones read residents
 * from the bank and the rest from the host source (pool-semantics 6). Not for concurrent use.
 */
public final class PoolEngine implements MoeEngine {
    private static final CallListener NOBODY = new CallListener() {
        @Override
        public void planned(StepPlan plan) {}

        @Override
        public void partitioned(int layer, Partition partition) {}
    };

    private final ExpertPool pool;
    private final CallListener listener;

    /** @param pool whose life cycle and controls stay the caller's */
    public PoolEngine(ExpertPool pool) {
        this(pool, NOBODY);
    }

    /** @param listener is told of every call */
    public PoolEngine(ExpertPool pool, CallListener listener) {
        this.pool = pool;
        this.listener = listener;
    }

    @Override
    public short[] forward(int layer, short[] activations, int[] ids, float[] weights) {
        LayerPass pass = new LayerPass(pool.source(), layer, pool.config().topK(), ids.length, activations, weights);
        if (ids.length <= pool.config().width().lanes()) {
            StepPlan plan = pool.step(layer, ids, weights, ids.length);
            listener.planned(plan);
            pass.compute(Arrays.copyOf(plan.safeIds(), ids.length), plan.stepMap(), pool.bank()::row);
        } else {
            Partition partition = pool.partition(layer, ids, weights, ids.length);
            listener.partitioned(layer, partition);
            pass.compute(partition.bankIds(), partition.bankRowByExpert(), pool.bank()::row);
            pass.compute(
                    partition.hostIds(),
                    partition.hostRowByExpert(),
                    row -> pool.source().row(layer, row));
        }
        return pass.sum();
    }
}
