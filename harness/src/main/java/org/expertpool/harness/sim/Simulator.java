package org.expertpool.harness.sim;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PlannerWidth;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Knowledge;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Replays a trace through policies: the exact planner semantics without bytes. All policies and row counts of a request
 * walk through the trace side by side; memory does not grow with the trace, unless a clairvoyant policy is among them.
 */
public final class Simulator {
    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final int plannerLanes;
    private final List<PolicyRun> runs = new ArrayList<>();
    private Optional<FutureIndex> future = Optional.empty();

    private Simulator(RoutingTrace trace, SimulationRequest request) {
        this.trace = trace;
        this.request = request;
        plannerLanes =
                PlannerWidth.of(trace.shape().topK(), request.decodeTokens()).lanes();
        addRuns();
    }

    /**
     * Simulates every (policy, rows) pair of the request.
     *
     * @return a result per pair, policies in the order asked for, rows within
     */
    public static List<SimulationResult> simulate(RoutingTrace trace, SimulationRequest request) {
        return new Simulator(trace, request).run();
    }

    private void addRuns() {
        PoolControls controls = PoolControls.DEFAULTS.withGate(true).with(request.controls());
        List<PoolConfig> pools = pools();
        List<PolicyKind> kinds = kinds();
        if (request.profile().isPresent() && !knows(kinds, Knowledge.PROFILE)) {
            throw new BadInputException("profile: a file is given but no policy reads it, expected static among them");
        }
        Optional<long[]> profile = knows(kinds, Knowledge.PROFILE) ? Optional.of(profile()) : Optional.empty();
        Optional<long[]> scoredProfile =
                knows(kinds, Knowledge.SCORED_PROFILE) ? Optional.of(count(request.score())) : Optional.empty();
        if (knows(kinds, Knowledge.FUTURE)) {
            FutureIndex index = new FutureIndex(trace, plannerLanes, request.resetAtSequence());
            index.readAhead();
            future = Optional.of(index);
        }
        Optional<IntUnaryOperator> firstUse = future.map(index -> index::firstUse);
        for (PolicyKind kind : kinds) {
            Optional<long[]> counts = kind.knowledge() == Knowledge.SCORED_PROFILE ? scoredProfile : profile;
            for (PoolConfig pool : pools) {
                runs.add(new PolicyRun(
                        kind, new PolicySetup(pool, request.scope(), request.initial(), controls, counts, firstUse)));
            }
        }
    }

    private List<PoolConfig> pools() {
        TraceShape shape = trace.shape();
        List<PoolConfig> pools = new ArrayList<>();
        for (int rows : request.rows()) {
            PoolConfig pool =
                    new PoolConfig(shape.layers(), shape.experts(), shape.topK(), rows, request.decodeTokens());
            if (pools.contains(pool)) {
                throw new BadInputException("rows: " + rows + " is given twice");
            }
            pools.add(pool);
        }
        return pools;
    }

    private List<PolicyKind> kinds() {
        List<PolicyKind> kinds = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (String name : request.policies()) {
            PolicyKind kind = Policies.named(name);
            if (!names.add(kind.fullName())) {
                throw new BadInputException("policy " + kind.fullName() + " is given twice");
            }
            kinds.add(kind);
        }
        return kinds;
    }

    private static boolean knows(List<PolicyKind> kinds, Knowledge knowledge) {
        return kinds.stream().anyMatch(kind -> kind.knowledge() == knowledge);
    }

    private long[] profile() {
        return request.profile().isPresent()
                ? request.profile().get().countsFor(trace.shape())
                : count(ExpertProfile.firstHalf(trace));
    }

    private long[] count(ScoreWindow window) {
        return ExpertProfile.count(trace, plannerLanes, window).counts();
    }

    private List<SimulationResult> run() {
        EventReader reader = new EventReader(trace, plannerLanes);
        ScoreWindow score = request.score();
        long forwards = 0;
        long partitionForwards = 0;
        while (reader.nextForward() && !score.isOver(reader.forward(), reader.sequence())) {
            if (request.resetAtSequence() && reader.startsSequence() && reader.sequence() > 0) {
                future.ifPresent(FutureIndex::readAhead);
                runs.forEach(PolicyRun::reset);
            }
            boolean scored = score.counts(reader.forward(), reader.sequence());
            if (!reader.isWide()) {
                forwards += scored ? 1 : 0;
                plan(reader, scored);
            } else if (scored) {
                partitionForwards++;
                partition(reader);
            }
        }
        List<SimulationResult> results = new ArrayList<>();
        for (PolicyRun run : runs) {
            results.add(run.result(forwards, partitionForwards));
        }
        return results;
    }

    private void plan(EventReader reader, boolean scored) {
        for (int layer = 0; layer < trace.shape().layers(); layer++) {
            RoutingEvent event = reader.read(layer);
            future.ifPresent(index -> index.fill(event));
            for (PolicyRun run : runs) {
                run.plan(event, scored);
            }
        }
    }

    private void partition(EventReader reader) {
        for (int layer = 0; layer < trace.shape().layers(); layer++) {
            RoutingEvent event = reader.read(layer);
            for (PolicyRun run : runs) {
                run.partition(event);
            }
        }
    }
}
