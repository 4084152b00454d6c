package org.expertpool.harness.bench;

import static org.expertpool.harness.bench.WorkingSetTrace.EXPERTS;
import static org.expertpool.harness.bench.WorkingSetTrace.LAYERS;
import static org.expertpool.harness.bench.WorkingSetTrace.ROWS;
import static org.expertpool.harness.bench.WorkingSetTrace.SELECTIONS;
import static org.expertpool.harness.bench.WorkingSetTrace.TOP_K;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
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
    private final StepTally tally = new StepTally();
    private WorkingSetTrace routing;
    private PlacementPolicy warmed;

    @Setup
    public void prepare() {
        routing = new WorkingSetTrace();
        PoolConfig pool = new PoolConfig(LAYERS, EXPERTS, TOP_K, ROWS, 1);
        warmed = Policies.named("lru")
                .create(PolicySetup.of(
                        pool,
                        org.expertpool.pool.policy.Scope.GLOBAL,
                        Initial.FIRST_N,
                        PoolControls.DEFAULTS.withGate(true)));
        stepLru();
        tally.clear();
        stepLru();
        double hitRatio = (double) tally.hits / tally.selections();
        if (hitRatio < 0.94 || hitRatio > 0.96) {
            throw new IllegalStateException("hit ratio is " + hitRatio + ", expected 0.95 +- 0.01");
        }
    }

    /** The policy alone, warm. */
    @Benchmark
    @OperationsPerInvocation(SELECTIONS)
    public StepTally stepLru() {
        for (RoutingEvent event : routing.events) {
            warmed.step(event, tally);
        }
        return tally;
    }

    /** All of {@code simulate}: reading the trace, set-up, counts, from a cold start. */
    @Benchmark
    @OperationsPerInvocation(SELECTIONS)
    public List<SimulationResult> simulateLru() {
        return Simulator.simulate(routing.trace, SimulationRequest.of(List.of("lru"), List.of(ROWS)));
    }
}
