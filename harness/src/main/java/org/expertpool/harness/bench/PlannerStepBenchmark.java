package org.expertpool.harness.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time of one step of the reference planner, by rows and misses, at 48 layers x 512 experts, top-10. Each layer always
 * selects the same hot experts and takes the others in turn: more of them than rows, so that under LRU each is a miss.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class PlannerStepBenchmark {
    private static final int LAYERS = 48;
    private static final int EXPERTS = 512;
    private static final int TOP_K = 10;

    @Param({"64", "208", "258"})
    public int rows;

    @Param({"0", "1", "2", "5", "10"})
    public int misses;

    private final int[] ids = new int[TOP_K];
    private final float[] weights = new float[TOP_K];
    private ReferencePlanner planner;
    private int layer;
    private int turn;

    @Setup
    public void warmPool() {
        planner = new ReferencePlanner(new PoolConfig(LAYERS, EXPERTS, TOP_K, rows, 1));
        planner.controls(PoolControls.DEFAULTS.withGate(true));
        Arrays.fill(weights, 1f / TOP_K);
        int forwards = 3 * EXPERTS / Math.max(1, misses);
        for (int step = 0; step < forwards * LAYERS; step++) {
            step();
        }
        for (int step = 0; step < LAYERS; step++) {
            int missed = step().copies();
            if (missed != misses) {
                throw new IllegalStateException("a step misses " + missed + " experts, expected " + misses);
            }
        }
    }

    @Benchmark
    public StepPlan step() {
        int hot = TOP_K - misses;
        for (int lane = 0; lane < TOP_K; lane++) {
            ids[lane] = lane < hot ? lane : hot + (turn + lane - hot) % (EXPERTS - hot);
        }
        StepPlan plan = planner.step(layer, ids, weights, TOP_K);
        layer++;
        if (layer == LAYERS) {
            layer = 0;
            turn = (turn + misses) % (EXPERTS - hot);
        }
        return plan;
    }
}
