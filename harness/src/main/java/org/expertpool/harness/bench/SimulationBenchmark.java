package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Rate of simulation on one core, in selections: LRU over one bank of 12,384 rows (48 layers x 512 experts, top-10,
 * N = 258) at 95 % hits. The set-up checks the hit ratio.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class SimulationBenchmark {
    private static final int LAYERS = 48;
    private static final int EXPERTS = 512;
    private static final int TOP_K = 10;
    private static final int ROWS = 258;
    private static final int FORWARDS = 512;
    private static final int SELECTIONS = FORWARDS * LAYERS * TOP_K;

    /** Experts of each layer that most selections fall on; they fit the bank, so that misses come from the others. */
    private static final int WORKING_SET = 200;

    private static final double OUTSIDE_SHARE = 0.1;

    private final List<RoutingEvent> events = new ArrayList<>();
    private final StepTally tally = new StepTally();
    private InMemoryTrace trace;
    private PlacementPolicy warmed;

    @Setup
    public void prepare() {
        trace = trace();
        PoolConfig pool = new PoolConfig(LAYERS, EXPERTS, TOP_K, ROWS, 1);
        warmed = Policies.named("lru")
                .create(new PolicySetup(
                        pool,
                        org.expertpool.pool.policy.Scope.GLOBAL,
                        Initial.FIRST_N,
                        PoolControls.DEFAULTS.withGate(true),
                        Optional.empty(),
                        Optional.empty()));
        stepLru();
        tally.clear();
        stepLru();
        double hitRatio = (double) tally.hits / tally.selections();
        if (hitRatio < 0.94 || hitRatio > 0.96) {
            throw new IllegalStateException("hit ratio is " + hitRatio + ", expected 0.95 +- 0.01");
        }
    }

    private InMemoryTrace trace() {
        SplittableRandom random = new SplittableRandom(1);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(
                new TraceShape(LAYERS, EXPERTS, TOP_K, false), "working set of " + WORKING_SET + ", seed 1");
        for (int forward = 0; forward < FORWARDS; forward++) {
            int[] ids = new int[LAYERS * TOP_K];
            for (int layer = 0; layer < LAYERS; layer++) {
                int[] experts = random.ints(0, EXPERTS)
                        .map(id -> random.nextDouble() < OUTSIDE_SHARE ? id : EXPERTS - 1 - id % WORKING_SET)
                        .distinct()
                        .limit(TOP_K)
                        .toArray();
                System.arraycopy(experts, 0, ids, layer * TOP_K, TOP_K);
                RoutingEvent event = new RoutingEvent(TOP_K);
                event.layer = layer;
                event.size = TOP_K;
                System.arraycopy(experts, 0, event.experts, 0, TOP_K);
                events.add(event);
            }
            builder.decode(forward == 0, forward, ids);
        }
        return builder.build();
    }

    /** The policy alone, warm. */
    @Benchmark
    @OperationsPerInvocation(SELECTIONS)
    public StepTally stepLru() {
        for (RoutingEvent event : events) {
            warmed.step(event, tally);
        }
        return tally;
    }

    /** All of {@code simulate}: reading the trace, set-up, counts, from a cold start. */
    @Benchmark
    @OperationsPerInvocation(SELECTIONS)
    public List<SimulationResult> simulateLru() {
        return Simulator.simulate(trace, SimulationRequest.of(List.of("lru"), List.of(ROWS)));
    }
}
