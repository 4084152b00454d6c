package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DecodeTime;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.sim.ObservedRun;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/** Chooses N for a memory limit and a context, and models the decode speed of a trace with it, whole decode graphs. */
public final class Adviser {
    private static final int RESAMPLES = 10_000;
    private static final long SEED = 1;
    private static final int BLOCK_FORWARDS = 50;
    private static final int FEWEST_PARTS = 10;

    private final Pricing pricing;
    private final ModelGeometry model;
    private final DeviceProfile device;
    private final CostModel cost;
    private final long memoryBytes;
    private final CapacityModel.Options options;

    /** @param pricing model, device and context; a device is needed */
    public Adviser(Pricing pricing, long memoryBytes, int decodeTokens) {
        this.pricing = pricing;
        model = pricing.model();
        device = pricing.device().orElseThrow(() -> new IllegalArgumentException("no device"));
        cost = new CostModel(model, device);
        this.memoryBytes = memoryBytes;
        options = new CapacityModel.Options(
                CapacityModel.Options.SEED.chunkTokens(), CapacityModel.Options.SEED.streamRingRows(), decodeTokens);
    }

    /** The largest N beside the context; refuses a memory limit that not even top-k rows per layer fit into. */
    public int rowsPerLayer() {
        return rows(memoryBytes);
    }

    private int rows(long bytes) {
        return new CapacityModel(model, bytes, device, options)
                .rowsPerLayer(pricing.contextTokens())
                .orElseThrow(() -> new BadInputException("memory " + bytes + " bytes: not even " + model.topK()
                        + " rows per layer of " + model.name() + " fit beside a context of " + pricing.contextTokens()
                        + " tokens; see capacity"));
    }

    /** Runs the policy, at the N that fits and at the one that a quarter more memory would hold. */
    public Advice advise(RoutingTrace trace, SimulationRequest request, String policy) {
        pricing.requireShape(trace.shape());
        int rows = rowsPerLayer();
        RunCounts run = RunCounts.of(new ObservedRun(trace, request, policy, rows), BLOCK_FORWARDS, List.of());
        if (run.all.forwards == 0) {
            throw new BadInputException("trace: no forward is both scored and narrow enough for the planner");
        }
        DecodeTime time = time(run.all);
        boolean bySequence = run.sequences.size() >= FEWEST_PARTS;
        double[] interval = interval(bySequence ? run.sequences : run.stretches, time);
        int more = rows(memoryBytes + memoryBytes / 4);
        RunCounts larger = more == rows
                ? run
                : RunCounts.of(new ObservedRun(trace, request, policy, more), BLOCK_FORWARDS, List.of());
        return new Advice(
                rows,
                run.policy,
                run.all.hitRatio(),
                speed(run.all, time.total()),
                interval[0],
                interval[1],
                bySequence
                        ? run.sequences.size() + " sequences"
                        : run.stretches.size() + " stretches of up to " + BLOCK_FORWARDS + " forwards",
                time,
                limits(run.all, time, larger, more));
    }

    private DecodeTime time(Counts counts) {
        return cost.decodeTime(GraphMode.FULL_DECODE, counts.steps, pricing.contextTokens());
    }

    private static double speed(Counts counts, double forwardMicros) {
        return 1e6 * counts.tokens / counts.forwards / forwardMicros;
    }

    private List<Advice.Limit> limits(Counts counts, DecodeTime time, RunCounts larger, int more) {
        double memory = time.moe() + time.dense() + time.kv();
        double launches = time.planner() + time.launches() + time.hostWait() + time.engine();
        List<Advice.Limit> limits = new ArrayList<>();
        limits.add(new Advice.Limit("link", "row copies in half the time", halved(counts, time, time.copy())));
        limits.add(
                new Advice.Limit("HBM", "GEMMs, dense weights and KV in half the time", halved(counts, time, memory)));
        limits.add(new Advice.Limit(
                "launches", "planner, kernel gaps and engine in half the time", halved(counts, time, launches)));
        limits.add(new Advice.Limit(
                "capacity",
                "a quarter more memory, N = " + more,
                speed(larger.all, time(larger.all).total())));
        limits.sort(Comparator.comparingDouble(Advice.Limit::tokensPerSecond).reversed());
        return limits;
    }

    private static double halved(Counts counts, DecodeTime time, double part) {
        return speed(counts, time.total() - part / 2);
    }

    /**
     * Bootstrap over parts of the trace, which take turns whole: a part's layer calls are not independent. Whatever does not
     * depend on the routing stays as it is.
     */
    private double[] interval(List<Counts> parts, DecodeTime time) {
        double fixed = time.total() - time.planner() - time.copy() - time.moe();
        double[] layerMicros =
                parts.stream().mapToDouble(part -> layerMicros(part.steps)).toArray();
        SplittableRandom random = new SplittableRandom(SEED);
        double[] speeds = new double[RESAMPLES];
        for (int resample = 0; resample < RESAMPLES; resample++) {
            double micros = 0;
            long forwards = 0;
            long tokens = 0;
            for (int i = 0; i < parts.size(); i++) {
                int drawn = random.nextInt(parts.size());
                micros += layerMicros[drawn];
                forwards += parts.get(drawn).forwards;
                tokens += parts.get(drawn).tokens;
            }
            speeds[resample] = 1e6 * tokens / (micros + forwards * fixed);
        }
        Arrays.sort(speeds);
        return new double[] {speeds[RESAMPLES * 25 / 1000], speeds[RESAMPLES * 975 / 1000 - 1]};
    }

    private double layerMicros(StepHistogram steps) {
        double[] micros = new double[1];
        steps.forEach((selected, misses, count) -> micros[0] += count * cost.poolLayerMicros(selected, misses));
        return micros[0];
    }
}
