package org.expertpool.harness.bench;

import static org.expertpool.harness.bench.WorkingSetTrace.EXPERTS;
import static org.expertpool.harness.bench.WorkingSetTrace.LAYERS;
import static org.expertpool.harness.bench.WorkingSetTrace.ROWS;
import static org.expertpool.harness.bench.WorkingSetTrace.SELECTIONS;
import static org.expertpool.harness.bench.WorkingSetTrace.TOP_K;

import java.util.List;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time of one warm policy per selection, 258 rows per layer, over one bank and per layer ({@link WorkingSetTrace}). The
 * bounds know one pass ahead, so each of theirs starts anew, which is in their time.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class PolicyBenchmark {
    @Param({"global", "layer"})
    public String scope;

    @Param({
        "lru",
        "random",
        "fifo",
        "clock",
        "sieve",
        "s3-fifo",
        "2q",
        "arc",
        "lru-2",
        "lfu",
        "lfu-halving",
        "lfu-decayed",
        "gate-ewma",
        "lfru",
        "w-tinylfu",
        "least-stale",
        "layered-lru",
        "promote.nth-touch",
        "promote.hotter",
        "promote.hotter-weighted",
        "promote.router-weight",
        "promote.probability",
        "promote.insert-cap",
        "heat",
        "half-pinned",
        "static",
        "belady",
        "belady-forced"
    })
    public String policy;

    private final StepTally tally = new StepTally();
    private List<RoutingEvent> events;
    private PlacementPolicy warmed;
    private boolean isBound;

    @Setup
    public void prepare() {
        WorkingSetTrace routing = new WorkingSetTrace();
        events = routing.events;
        warmed = Policies.named(policy + "+scope." + scope)
                .create(PolicySetup.of(
                                new PoolConfig(LAYERS, EXPERTS, TOP_K, ROWS, 1),
                                org.expertpool.pool.policy.Scope.GLOBAL,
                                Initial.FIRST_N,
                                PoolControls.DEFAULTS.withGate(true))
                        .withProfile(profile())
                        .withFirstUse(key -> routing.firstUse[key]));
        isBound = policy.startsWith("belady");
        step();
    }

    /** Selections of one pass by key, for placements that are frozen or pinned. */
    private long[] profile() {
        long[] counts = new long[LAYERS * EXPERTS];
        for (RoutingEvent event : events) {
            for (int i = 0; i < event.size; i++) {
                counts[event.layer * EXPERTS + event.experts[i]]++;
            }
        }
        return counts;
    }

    @Benchmark
    @OperationsPerInvocation(SELECTIONS)
    public StepTally step() {
        if (isBound) {
            warmed.reset();
        }
        for (RoutingEvent event : events) {
            warmed.step(event, tally);
        }
        return tally;
    }
}
