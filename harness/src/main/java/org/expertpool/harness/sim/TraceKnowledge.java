package org.expertpool.harness.sim;

import java.util.Optional;
import java.util.Set;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Knowledge;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;

/** What policies are told of a trace before its first event; read when first asked for, once for all policies. */
final class TraceKnowledge {
    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final int plannerLanes;
    private Optional<long[]> profile = Optional.empty();
    private Optional<long[]> scoredProfile = Optional.empty();
    private Optional<MissCurves> curves = Optional.empty();
    private Optional<FutureIndex> future = Optional.empty();

    TraceKnowledge(RoutingTrace trace, SimulationRequest request) {
        this.trace = trace;
        this.request = request;
        plannerLanes = request.plannerLanes(trace.shape());
    }

    /** The setup of a policy with one pool, and all it must hold. */
    PolicySetup setup(PolicyKind kind, PoolConfig pool, PoolControls controls) {
        PolicySetup setup = kind.settle(PolicySetup.of(pool, request.scope(), request.initial(), controls));
        Set<Knowledge> needed = kind.knowledge(setup);
        if (needed.contains(Knowledge.PROFILE)) {
            setup = setup.withProfile(profile());
        }
        if (needed.contains(Knowledge.SCORED_PROFILE)) {
            setup = setup.withProfile(scoredProfile());
        }
        if (needed.contains(Knowledge.LAYER_ROWS)) {
            int mostRows = Math.max(pool.residentPerLayer(), pool.experts() - 1);
            setup = setup.withLayerRows(curves().split(pool.poolRows(), pool.topK(), mostRows));
        }
        if (needed.contains(Knowledge.FUTURE)) {
            setup = setup.withFirstUse(readAhead()::firstUse);
        }
        return setup;
    }

    /** The next uses, where a policy asked for them. */
    Optional<FutureIndex> future() {
        return future;
    }

    /** A profile that no policy reads is a mistake. */
    void requireProfileUsed() {
        if (request.profile().isPresent() && profile.isEmpty()) {
            throw new BadInputException("profile: a file is given but no policy reads it, expected static among them");
        }
    }

    private long[] profile() {
        if (profile.isEmpty()) {
            profile = Optional.of(
                    request.profile().isPresent()
                            ? request.profile().get().countsFor(trace.shape())
                            : count(ExpertProfile.firstHalf(trace)));
        }
        return profile.get();
    }

    private long[] scoredProfile() {
        if (scoredProfile.isEmpty()) {
            scoredProfile = Optional.of(count(request.score()));
        }
        return scoredProfile.get();
    }

    private long[] count(ScoreWindow window) {
        return ExpertProfile.count(trace, plannerLanes, window).counts();
    }

    private MissCurves curves() {
        if (curves.isEmpty()) {
            curves = Optional.of(MissCurves.count(trace, plannerLanes, ExpertProfile.firstHalf(trace)));
        }
        return curves.get();
    }

    private FutureIndex readAhead() {
        if (future.isEmpty()) {
            FutureIndex index = new FutureIndex(trace, plannerLanes, request.resetAtSequence());
            index.readAhead();
            future = Optional.of(index);
        }
        return future.get();
    }
}
