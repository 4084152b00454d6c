package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.harness.rows.RowContent;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.HostPlannedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.StreamEngine;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.Scope;

/**
 * Times of the routed MoE of one layer on the device, from whole forwards over layers with distinct weights: routing read
 * after the output before, planner, copies, GEMMs and sum inside; nothing of the rest of a model.
 */
public final class DeviceLayers {
    private static final int[] RESIDENT_TOKENS = {1, 2, 4, 8, 64, 512};
    private static final int[] MISSES = {0, 1, 2, 5, 10};
    private static final int WARM = 4;
    private static final int UVA_FORWARDS = 6;
    private static final int STREAM_FORWARDS = 2;
    private static final int COPY_BLOCKS = 16;

    private final ModelGeometry geometry;
    private final ActivationType activations;
    private final int rows;
    private final int forwards;
    private final HostRows source;
    private final Consumer<String> progress;
    private final List<LayerTime> times = new ArrayList<>();
    private String device = "";
    private double fillSeconds = Double.NaN;

    /**
     * @param activations their type
     * @param rows N of the pool
     * @param forwards timed for each figure, after some to warm up
     * @param source of the rows; its notices are told what is under way
     */
    public DeviceLayers(ModelGeometry geometry, ActivationType activations, int rows, int forwards, HostRows source) {
        this.geometry = geometry;
        this.activations = activations;
        this.rows = rows;
        this.forwards = forwards;
        this.source = source;
        progress = source.notices();
    }

    /** Runs everything; needs the memory for all experts on the host, and once on the device. */
    public DeviceLayerTable run() {
        try (CudaContext context = CudaContext.open()) {
            device = context.device().name();
            long start = System.nanoTime();
            DeviceModel model = source.load(context, content(geometry, activations), geometry.topK());
            fillSeconds = (System.nanoTime() - start) * 1e-9;
            resident(model);
            pools(model);
            uva(model);
            stream(model);
            return table();
        }
    }

    /** What has been measured so far: all, unless {@link #run} failed. */
    public DeviceLayerTable table() {
        return new DeviceLayerTable(device, fillSeconds, geometry, activations, rows, times);
    }

    /** Seeded experts of the geometry. */
    static RowContent content(ModelGeometry geometry, ActivationType activations) {
        return RowContent.seeded(
                geometry.name(),
                new SyntheticExperts(1, geometry.layers(), geometry.experts(), geometry.rowLayout(), activations));
    }

    private void resident(DeviceModel model) {
        try (LayerEngine engine = FixedEngine.resident(model)) {
            for (int tokens : RESIDENT_TOKENS) {
                RoutingTape tape = UniformTape.of(geometry, tokens, 4);
                time(model, engine, tokens, -1, tape, DecodeGraph.FULL_DECODE, forwards);
            }
            time(model, engine, 1, -1, UniformTape.of(geometry, 1, forwards), DecodeGraph.NONE, forwards);
        }
    }

    private void pools(DeviceModel model) {
        PoolConfig config = new PoolConfig(geometry.layers(), geometry.experts(), geometry.topK(), rows, 1);
        for (int misses : MISSES) {
            if (misses <= geometry.topK()) {
                RoutingTape tape = ImposedMisses.tape(config, misses, WARM + forwards, misses);
                pool(model, config, misses, tape, DecodeGraph.FULL_DECODE);
                pool(model, config, misses, tape, DecodeGraph.NONE);
                hostPlanned(model, config, misses, tape);
            }
        }
    }

    private void pool(DeviceModel model, PoolConfig config, int misses, RoutingTape tape, DecodeGraph mode) {
        try (DevicePool pool = DevicePool.install(model, config, COPY_BLOCKS)) {
            RouteReplay.Counts counts = time(model, pool, 1, misses, tape, mode, forwards);
            requireImposed("the pool", counts.promoted() + counts.staged(), misses);
        }
    }

    /** By the pool's own policy, so that the same misses are imposed. */
    private void hostPlanned(DeviceModel model, PoolConfig config, int misses, RoutingTape tape) {
        PolicySetup setup = PolicySetup.of(config, Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
        try (HostPlannedEngine engine = new HostPlannedEngine(model, Policies.named("evict.lru"), setup)) {
            time(model, engine, 1, misses, tape, DecodeGraph.NONE, forwards);
            requireImposed("the host's plans", engine.hostPlans().promoted(), misses);
        }
    }

    private void requireImposed(String whose, long copied, int misses) {
        long expected = (long) misses * geometry.layers() * (WARM + forwards);
        if (copied != expected) {
            throw new IllegalStateException(
                    "misses of " + whose + ": " + copied + ", expected " + expected + " as imposed");
        }
    }

    private void stream(DeviceModel model) {
        try (LayerEngine engine = new StreamEngine(model, 0)) {
            RoutingTape tape = UniformTape.of(geometry, 1, WARM + STREAM_FORWARDS);
            time(model, engine, 1, -1, tape, DecodeGraph.NONE, STREAM_FORWARDS);
        }
    }

    private void uva(DeviceModel model) {
        try (LayerEngine engine = FixedEngine.uva(model, geometry.layers())) {
            time(
                    model,
                    engine,
                    1,
                    -1,
                    UniformTape.of(geometry, 1, WARM + UVA_FORWARDS),
                    DecodeGraph.FULL_DECODE,
                    UVA_FORWARDS);
        }
    }

    private RouteReplay.Counts time(
            DeviceModel model,
            LayerEngine engine,
            int tokens,
            int misses,
            RoutingTape tape,
            DecodeGraph mode,
            int count) {
        try (DeviceForward forward = new DeviceForward(
                model,
                engine,
                ForwardSpec.of(tokens, tape, 4, 1, 1, mode).withReading(RouteReplay.Reading.FIRST_TOKEN))) {
            if (engine instanceof DevicePool pool) {
                pool.openGate(RowCheck.SAMPLED);
            } else if (engine instanceof HostPlannedEngine planned) {
                planned.openGate();
            }
            forward.run(WARM);
            LayerTime time = LayerTime.of(
                    engine.name(),
                    mode == DecodeGraph.NONE ? "eager" : "graph",
                    tokens,
                    misses,
                    model.layers(),
                    forward.time(count));
            times.add(time);
            progress.accept(String.format(
                    Locale.ROOT,
                    "%s, %s, %d tokens, %d misses: %.2f us a layer",
                    time.engine(),
                    time.mode(),
                    tokens,
                    misses,
                    time.medianMicros()));
            return forward.routes().counts();
        }
    }
}
