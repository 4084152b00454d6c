package org.expertpool.harness.sim;

import java.util.Arrays;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.plan.TableCheck;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;

/**
 * A trace through the reference planner's own tables where wide calls fill the pool by {@link PrefillPromotion}: what the
 * {@link Simulator}'s policies, for which wide calls change nothing, cannot count. Experts that stay are {@code exchanged}.
 */
public final class FillingReplay {
    private static final String POLICY = "evict.lru";

    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final PoolConfig pool;
    private final int prefillPromote;
    private final ReferencePlanner planner;
    private final StepHistogram steps;
    private final int[] laneCounts; // [E]
    private long hits;
    private long promoted;
    private long staged;
    private long exchanged;
    private long forwards;
    private long tokens;
    private long partitionForwards;
    private long partitionHits;
    private long partitionMisses;

    private FillingReplay(RoutingTrace trace, SimulationRequest request, int prefillPromote) {
        require("policy", request.policies().get(0), request.policies().get(0).equals(POLICY), POLICY);
        require("scope", request.scope(), request.scope() == Scope.GLOBAL, "global");
        require("initial", request.initial(), request.initial() == Initial.FIRST_N, "first-n");
        require("reset", "sequence", !request.resetAtSequence(), "no reset");
        this.trace = trace;
        this.request = request;
        this.prefillPromote = prefillPromote;
        TraceShape shape = trace.shape();
        pool = new PoolConfig(
                shape.layers(), shape.experts(), shape.topK(), request.rows().get(0), request.decodeTokens());
        planner = new ReferencePlanner(pool);
        planner.controls(PoolControls.DEFAULTS.withGate(true).with(request.controls()));
        steps = new StepHistogram(Math.min(pool.stagingRows(), pool.experts()));
        laneCounts = new int[shape.experts()];
    }

    /**
     * Replays the request's first policy, the planner's own, at its first number of rows.
     *
     * @param prefillPromote most experts of a layer that stay after a wide call
     */
    public static SimulationResult run(RoutingTrace trace, SimulationRequest request, int prefillPromote) {
        return new FillingReplay(trace, request, prefillPromote).run();
    }

    private static void require(String field, Object value, boolean holds, String expected) {
        if (!holds) {
            throw new BadInputException(
                    field + " is " + value + ", expected " + expected + " where wide calls fill the pool");
        }
    }

    private SimulationResult run() {
        request.score().walk(trace, this::forward);
        TableCheck.require(planner.tables());
        return result();
    }

    private void forward(ForwardCursor cursor, boolean scored) {
        int lanes = Math.multiplyExact(cursor.tokens(), pool.topK());
        int[] ids = new int[lanes];
        float[] weights = new float[lanes];
        boolean planned = lanes <= pool.width().lanes();
        for (int layer = 0; layer < pool.layers(); layer++) {
            cursor.ids(layer, ids);
            cursor.weights(layer, weights);
            if (planned) {
                plan(layer, ids, weights, scored);
            } else {
                fill(layer, planner.sanitise(ids, weights, lanes), scored);
            }
        }
        if (scored) {
            forwards += planned ? 1 : 0;
            tokens += planned ? cursor.tokens() : 0;
            partitionForwards += planned ? 0 : 1;
        }
    }

    private void plan(int layer, int[] ids, float[] weights, boolean scored) {
        StepPlan step = planner.step(layer, ids, weights, ids.length);
        if (scored) {
            hits += step.hits();
            promoted += step.promoted();
            staged += step.staged();
            steps.add(step.selected(), step.copies());
        }
    }

    private void fill(int layer, int[] safeIds, boolean scored) {
        PoolTables tables = planner.tables();
        Arrays.fill(laneCounts, 0);
        for (int expert : safeIds) {
            if (expert >= 0) {
                laneCounts[expert]++;
            }
        }
        for (int expert = 0; expert < laneCounts.length && scored; expert++) {
            if (laneCounts[expert] > 0) {
                boolean resident = tables.hotRow(pool.key(layer, expert)) != PoolTables.ABSENT;
                partitionHits += resident ? 1 : 0;
                partitionMisses += resident ? 0 : 1;
            }
        }
        int kept = PrefillPromotion.apply(tables, layer, laneCounts, prefillPromote)
                .size();
        exchanged += scored ? kept : 0;
    }

    private SimulationResult result() {
        return new SimulationResult(
                POLICY,
                Scope.GLOBAL,
                Initial.FIRST_N,
                pool.rows(),
                pool.residentPerLayer(),
                pool.poolRows(),
                forwards,
                tokens,
                hits + promoted + staged,
                hits,
                promoted + staged,
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
