package org.expertpool.harness.sim;

import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** One policy at one number of rows on its way through a trace, with its counts. */
final class PolicyRun {
    private final PolicyKind kind;
    private final PolicySetup setup;
    private final PlacementPolicy policy;
    private final StepHistogram steps;
    private final StepTally step = new StepTally();
    private long hits;
    private long promoted;
    private long staged;
    private long exchanged;
    private long forwards;
    private long tokens;
    private long partitionForwards;
    private long partitionHits;
    private long partitionMisses;

    /** @param setup settled for the policy, with all it must hold */
    PolicyRun(PolicyKind kind, PolicySetup setup) {
        this.kind = kind;
        this.setup = setup;
        policy = kind.create(setup);
        PoolConfig pool = setup.pool();
        steps = new StepHistogram(Math.min(pool.stagingRows(), pool.experts()));
    }

    void plan(RoutingEvent event, boolean scored) {
        step.clear();
        policy.step(event, step);
        if (scored) {
            hits += step.hits;
            promoted += step.promoted;
            staged += step.staged;
            exchanged += step.exchanged;
            steps.add(event.size, (int) step.misses());
        }
    }

    /** A scored forward has been planned. */
    void endForward(int tokensOfForward) {
        forwards++;
        tokens += tokensOfForward;
    }

    /** A scored forward on the partition path reads residents from the bank and changes nothing (pool-semantics 6). */
    void partition(RoutingEvent event) {
        for (int i = 0; i < event.size; i++) {
            if (policy.isResident(event.layer, event.experts[i])) {
                partitionHits++;
            } else {
                partitionMisses++;
            }
        }
    }

    void endPartition() {
        partitionForwards++;
    }

    void reset() {
        policy.reset();
    }

    /** Throws if the policy's own invariants are broken. */
    void check() {
        policy.check();
    }

    SimulationResult result() {
        PoolConfig pool = setup.pool();
        long misses = promoted + staged;
        return new SimulationResult(
                kind.fullName(),
                setup.scope(),
                setup.initial(),
                pool.rows(),
                pool.residentPerLayer(),
                pool.poolRows(),
                forwards,
                tokens,
                hits + misses,
                hits,
                misses,
                promoted,
                staged,
                exchanged,
                partitionForwards,
                partitionHits + partitionMisses,
                partitionHits,
                partitionMisses,
                steps);
    }
}
