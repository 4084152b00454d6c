package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceBank;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.StreamEngine;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.route.StreamPlan;

/**
 * Times of prefill chunks on the partition path: streamed, and by the host view, with no expert resident and with about
 * half of each layer's, chosen at random; and whole layers streamed, with the first of each as resident. Routing is read after the output before; the cut of the call, the host's wait
 * for it, copies, GEMMs and sum are inside. Every way must give the same outputs for every token.
 */
public final class PrefillLayers {
    private static final int COPY_BLOCKS = 16;
    private static final int TAPE_FORWARDS = 2;
    private static final int INPUTS = 4;
    private static final int HOST_VIEW_FORWARDS = 3;
    private static final int STREAM_FORWARDS = 3;
    private static final int COPY_PASSES = 3;

    private final ModelGeometry geometry;
    private final List<Integer> residents;
    private final int forwards;
    private final HostRows source;
    private final Consumer<String> progress;
    private final List<PrefillTime> times = new ArrayList<>();
    private String device = "";

    /**
     * @param residents experts of each layer that are resident, for each figure
     * @param forwards timed for each figure, after some to warm up
     * @param source of the rows; its notices are told what is under way
     */
    public PrefillLayers(ModelGeometry geometry, List<Integer> residents, int forwards, HostRows source) {
        this.geometry = geometry;
        this.residents = List.copyOf(residents);
        this.forwards = forwards;
        this.source = source;
        progress = source.notices();
    }

    /** Runs everything; needs the memory for all experts on the host. */
    public PrefillTable run(List<Integer> tokenCounts) {
        try (CudaContext context = CudaContext.open()) {
            device = context.device().name();
            DeviceModel model =
                    source.load(context, DeviceLayers.content(geometry, ActivationType.BF16), geometry.topK());
            int most = residents.stream().mapToInt(Integer::intValue).max().orElse(0);
            PoolConfig config = new PoolConfig(
                    geometry.layers(), geometry.experts(), geometry.topK(), Math.max(most, geometry.topK()), 1);
            copies(model);
            try (DevicePool pool = DevicePool.install(model, config, COPY_BLOCKS)) {
                for (int tokens : tokenCounts) {
                    RoutingTape tape = UniformTape.of(geometry, tokens, TAPE_FORWARDS);
                    chunk(model, pool, tape, tokens);
                }
            }
            return table();
        }
    }

    /** What has been measured so far: all, unless {@link #run} failed. */
    public PrefillTable table() {
        return new PrefillTable(device, geometry, times);
    }

    /** All rows in large copies and nothing else: what the link gives over this memory. */
    private void copies(DeviceModel model) {
        int ringRows = StreamPlan.Shape.DEFAULT.ringRows();
        double[] micros = new double[COPY_PASSES];
        try (DeviceBank ring = new DeviceBank(model.context(), model.shape().row(), ringRows);
                CudaEvent start = new CudaEvent(model.context());
                CudaEvent end = new CudaEvent(model.context())) {
            for (int pass = 0; pass < COPY_PASSES; pass++) {
                start.record(model.stream());
                for (int layer = 0; layer < model.layers(); layer++) {
                    for (int expert = 0; expert < geometry.experts(); expert += ringRows) {
                        int rows = Math.min(ringRows, geometry.experts() - expert);
                        ring.copyIn(0, model.source(), layer, expert, rows, model.stream());
                    }
                }
                end.record(model.stream());
                micros[pass] = end.microsecondsSince(start);
            }
        }
        add(new PrefillTime(
                LayerTime.of("copies alone", "eager", 0, -1, model.layers(), micros),
                0,
                geometry.experts(),
                geometry.rowBytes()));
    }

    private void chunk(DeviceModel model, DevicePool pool, RoutingTape tape, int tokens) {
        List<Long> hashes = new ArrayList<>();
        for (int perLayer : residents) {
            Random random = new Random(perLayer);
            pool.place(PoolTables.placed(
                    pool.config(),
                    layer -> random.ints(0, geometry.experts())
                            .distinct()
                            .limit(perLayer)
                            .toArray()));
            WidePool streamed = new WidePool(pool, new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0));
            WidePool hostView = new WidePool(pool, new WidePool.HostView());
            for (WidePool engine : List.of(streamed, hostView)) {
                hashes.add(hash(model, engine, tape, tokens));
            }
            double missing = missing(pool.tables(), tape);
            time(model, streamed, perLayer, missing, tape, tokens, DecodeGraph.NONE, forwards);
            time(model, hostView, perLayer, missing, tape, tokens, DecodeGraph.FULL_DECODE, HOST_VIEW_FORWARDS);
            try (LayerEngine stream = new StreamEngine(model, perLayer)) {
                hashes.add(hash(model, stream, tape, tokens));
                int others = geometry.experts() - perLayer; // whatever is routed
                time(model, stream, perLayer, others, tape, tokens, DecodeGraph.NONE, STREAM_FORWARDS);
            }
        }
        if (hashes.stream().distinct().count() > 1) {
            throw new IllegalStateException("outputs of " + tokens + " tokens differ between ways: " + hashes);
        }
    }

    /** Of all outputs of a forward. Apart from the timed ones, whose routing reads what a router reads for one token. */
    private static long hash(DeviceModel model, LayerEngine engine, RoutingTape tape, int tokens) {
        ForwardSpec spec = ForwardSpec.of(tokens, tape, INPUTS, 1, 1, DecodeGraph.NONE);
        try (DeviceForward forward = new DeviceForward(model, engine, spec)) {
            return forward.run(1).hash(0);
        }
    }

    private void time(
            DeviceModel model,
            LayerEngine engine,
            int perLayer,
            double missing,
            RoutingTape tape,
            int tokens,
            DecodeGraph mode,
            int count) {
        ForwardSpec spec = ForwardSpec.of(tokens, tape, INPUTS, 1, TAPE_FORWARDS, mode)
                .withReading(RouteReplay.Reading.FIRST_TOKEN);
        try (DeviceForward forward = new DeviceForward(model, engine, spec)) {
            forward.run(TAPE_FORWARDS);
            String launched = mode == DecodeGraph.NONE ? "eager" : "graph";
            LayerTime layer = LayerTime.of(engine.name(), launched, tokens, -1, model.layers(), forward.time(count));
            add(new PrefillTime(layer, perLayer, missing, geometry.rowBytes()));
        }
    }

    private void add(PrefillTime time) {
        times.add(time);
        progress.accept(String.format(
                Locale.ROOT,
                "%s, %s, %d tokens, %.1f missing a layer: %.3f ms a layer, %.1f GB/s",
                time.layer().engine(),
                time.layer().mode(),
                time.layer().tokens(),
                time.missingRows(),
                time.milliseconds(),
                time.gigabytesPerSecond()));
    }

    /** Rows of a layer that the tape's forwards touch and the bank lacks, on average. */
    private static double missing(PoolTables tables, RoutingTape tape) {
        long missing = 0;
        int experts = tables.config().experts();
        for (int call = 0; call < tape.forwards() * tape.layers(); call++) {
            boolean[] seen = new boolean[experts];
            for (int lane = call * tape.lanes(); lane < (call + 1) * tape.lanes(); lane++) {
                int expert = tape.ids()[lane];
                boolean resident =
                        tables.hotRow(tables.config().key(call % tape.layers(), expert)) != PoolTables.ABSENT;
                missing += seen[expert] || resident ? 0 : 1;
                seen[expert] = true;
            }
        }
        return (double) missing / (tape.forwards() * tape.layers());
    }
}
