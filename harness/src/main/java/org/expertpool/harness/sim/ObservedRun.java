package org.expertpool.harness.sim;

import java.util.List;
import java.util.Optional;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** One policy at one number of rows, step by step before observers: the counts of {@link Simulator}, taken apart. */
public final class ObservedRun {
    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final PolicyKind kind;
    private final PolicySetup setup;
    private final Optional<FutureIndex> future;
    private final PlacementPolicy policy;

    /** A run of that policy and that number of rows; the request's own lists of both are not looked at. */
    public ObservedRun(RoutingTrace trace, SimulationRequest request, String policyName, int rows) {
        this.trace = trace;
        this.request = request;
        kind = Policies.named(policyName);
        TraceShape shape = trace.shape();
        PoolConfig pool = new PoolConfig(shape.layers(), shape.experts(), shape.topK(), rows, request.decodeTokens());
        TraceKnowledge knowledge = new TraceKnowledge(trace, request);
        setup = knowledge.setup(kind, pool, PoolControls.DEFAULTS.withGate(true).with(request.controls()));
        future = knowledge.future();
        policy = kind.create(setup);
    }

    /** The policy's full name. */
    public String policyName() {
        return kind.fullName();
    }

    /** What the policy was set up with: rows, scope, start. */
    public PolicySetup setup() {
        return setup;
    }

    /** The most distinct experts that a planned step can select. */
    public int maxSelected() {
        return Math.min(setup.pool().stagingRows(), setup.pool().experts());
    }

    /** Walks through the trace once; returns the policy as it then is. */
    public PlacementPolicy run(List<? extends StepObserver> observers) {
        EventReader reader = new EventReader(trace, request.plannerLanes(trace.shape()));
        observers.forEach(observer -> observer.placed(policy));
        ScoreWindow score = request.score();
        while (reader.nextForward() && !score.isOver(reader.forward(), reader.sequence())) {
            if (request.resetAtSequence() && reader.startsSequence() && reader.sequence() > 0) {
                future.ifPresent(FutureIndex::readAhead);
                policy.reset();
                observers.forEach(observer -> observer.placed(policy));
            }
            boolean scored = score.counts(reader.forward(), reader.sequence());
            if (reader.isWide()) {
                observers.forEach(observer -> observer.wide(reader.forward(), scored));
            } else {
                plan(reader, scored, observers);
            }
        }
        policy.check();
        return policy;
    }

    private void plan(EventReader reader, boolean scored, List<? extends StepObserver> observers) {
        for (StepObserver observer : observers) {
            observer.forward(reader.forward(), reader.sequence(), reader.startsSequence(), reader.tokens(), scored);
        }
        StepTally tally = new StepTally();
        for (int layer = 0; layer < trace.shape().layers(); layer++) {
            RoutingEvent event = reader.read(layer);
            future.ifPresent(index -> index.fill(event));
            tally.clear();
            policy.step(event, tally);
            for (StepObserver observer : observers) {
                observer.step(event, tally);
            }
        }
    }
}
