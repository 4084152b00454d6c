package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
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
 * Times of prefill chunks with so many of each layer's experts resident, chosen at random: on the partition path streamed
 * and by the host view; whole layers streamed, with the first of each as resident; all experts read from the host; and the
 * link's rate in large copies. All ways take turns. Routing is read after the output before; the cut of the call, the
 * host's wait for it, copies, GEMMs and sum are inside. Every way must give the same outputs for every token.
 */
public final class PrefillLayers {
    private static final int COPY_BLOCKS = 16;
    private static final int TAPE_FORWARDS = 2;
    private static final int INPUTS = 4;
    private static final String COPIES = "copies alone";

    private record Way(LayerEngine engine, DecodeGraph mode, double missing) {}

    private final ModelGeometry geometry;
    private final ActivationType activations;
    private final List<Integer> residents;
    private final ChunkRouting routing;
    private final int forwards;
    private final HostRows source;
    private final Consumer<String> progress;
    private final List<PrefillTime> times = new ArrayList<>();
    private final List<PrefillRatios> ratios = new ArrayList<>();
    private String device = "";

    /**
     * @param activations their type
     * @param residents experts of each layer that are resident, for each figure
     * @param forwards timed for each figure, after two to warm up; chunks are two that take turns
     * @param source of the rows; its notices are told what is under way
     */
    public PrefillLayers(
            ModelGeometry geometry,
            ActivationType activations,
            List<Integer> residents,
            ChunkRouting routing,
            int forwards,
            HostRows source) {
        this.geometry = geometry;
        this.activations = activations;
        this.residents = List.copyOf(residents);
        this.routing = routing;
        this.forwards = forwards;
        this.source = source;
        progress = source.notices();
    }

    /** Runs everything; needs the memory for all experts on the host. */
    public PrefillTable run(List<Integer> tokenCounts) {
        List<RoutingTape> tapes = tokenCounts.stream()
                .map(tokens -> routing.tape(geometry, tokens, TAPE_FORWARDS))
                .toList();
        try (CudaContext context = CudaContext.open()) {
            device = context.device().name();
            DeviceModel model = source.load(context, DeviceLayers.content(geometry, activations), geometry.topK());
            int most = residents.stream().mapToInt(Integer::intValue).max().orElse(0);
            PoolConfig config = new PoolConfig(
                    geometry.layers(), geometry.experts(), geometry.topK(), Math.max(most, geometry.topK()), 1);
            try (DevicePool pool = DevicePool.install(model, config, COPY_BLOCKS)) {
                for (RoutingTape tape : tapes) {
                    chunk(model, pool, tape);
                }
            }
            return table();
        }
    }

    /** What has been measured so far: all, unless {@link #run} failed. */
    public PrefillTable table() {
        return new PrefillTable(device, geometry, activations, times, ratios);
    }

    private void chunk(DeviceModel model, DevicePool pool, RoutingTape tape) {
        List<Long> hashes = new ArrayList<>();
        for (int perLayer : residents) {
            Random random = new Random(perLayer);
            pool.place(PoolTables.placed(
                    pool.config(),
                    layer -> random.ints(0, geometry.experts())
                            .distinct()
                            .limit(perLayer)
                            .toArray()));
            double missing = missing(pool.tables(), tape);
            try (LayerEngine stream = new StreamEngine(model, perLayer);
                    LayerEngine uva = FixedEngine.uva(model, model.layers())) {
                List<Way> ways = List.of(
                        new Way(
                                new WidePool(pool, new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0)),
                                DecodeGraph.NONE,
                                missing),
                        new Way(new WidePool(pool, new WidePool.HostView()), DecodeGraph.FULL_DECODE, missing),
                        new Way(uva, DecodeGraph.FULL_DECODE, touched(tape)),
                        new Way(stream, DecodeGraph.NONE, geometry.experts() - perLayer)); // whatever is routed
                ways.forEach(way -> hashes.add(hash(model, way.engine(), tape)));
                time(model, ways, tape, perLayer);
            }
        }
        if (hashes.stream().distinct().count() > 1) {
            throw new IllegalStateException("outputs of " + tokens(tape) + " tokens differ between ways: " + hashes);
        }
    }

    private int tokens(RoutingTape tape) {
        return tape.lanes() / geometry.topK();
    }

    /** Of all outputs of a forward. Apart from the timed ones, whose routing reads what a router reads for one token. */
    private long hash(DeviceModel model, LayerEngine engine, RoutingTape tape) {
        ForwardSpec spec = ForwardSpec.of(tokens(tape), tape, INPUTS, 1, 1, DecodeGraph.NONE);
        try (DeviceForward forward = new DeviceForward(model, engine, spec)) {
            return forward.run(1).hash(0);
        }
    }

    private void time(DeviceModel model, List<Way> ways, RoutingTape tape, int perLayer) {
        try (LinkCopies copies = new LinkCopies(model);
                Forwards made = new Forwards(new ArrayList<>())) {
            TurnTimes turns = new TurnTimes();
            turns.add(COPIES, copies::micros);
            for (Way way : ways) {
                ForwardSpec spec = ForwardSpec.of(tokens(tape), tape, INPUTS, 1, TAPE_FORWARDS, way.mode())
                        .withReading(RouteReplay.Reading.FIRST_TOKEN);
                DeviceForward forward = new DeviceForward(model, way.engine(), spec);
                made.forwards().add(forward);
                forward.run(1);
                turns.add(way.engine().name(), () -> forward.time(1)[0]);
            }
            Map<String, double[]> micros = turns.run(forwards);
            add(time(COPIES, DecodeGraph.NONE, 0, micros.get(COPIES)), 0, geometry.experts());
            for (Way way : ways) {
                String name = way.engine().name();
                add(time(name, way.mode(), tokens(tape), micros.get(name)), perLayer, way.missing());
            }
            ratios.add(PrefillRatios.of(
                    routing.label(),
                    tokens(tape),
                    perLayer,
                    ways.get(0).missing() / geometry.experts(),
                    micros.get(COPIES),
                    micros.get(ways.get(0).engine().name()),
                    micros.get(ways.get(1).engine().name()),
                    micros.get(ways.get(2).engine().name())));
        }
    }

    /** One of each way, ready at the same time. */
    private record Forwards(List<DeviceForward> forwards) implements AutoCloseable {
        @Override
        public void close() {
            forwards.forEach(DeviceForward::close);
        }
    }

    private LayerTime time(String name, DecodeGraph mode, int tokens, double[] micros) {
        return LayerTime.of(name, mode == DecodeGraph.NONE ? "eager" : "graph", tokens, -1, geometry.layers(), micros);
    }

    private void add(LayerTime layer, int perLayer, double missing) {
        PrefillTime time = new PrefillTime(layer, routing.label(), perLayer, missing, geometry.rowBytes());
        times.add(time);
        progress.accept(String.format(
                Locale.ROOT,
                "%s, %s, %d tokens, %.1f missing a layer: %.3f ms a layer, %.1f GB/s",
                layer.engine(),
                layer.mode(),
                layer.tokens(),
                time.missingRows(),
                time.milliseconds(),
                time.gigabytesPerSecond()));
    }

    /** Rows of a layer that the tape's forwards touch, on average. */
    private double touched(RoutingTape tape) {
        return mean(tape, key -> true);
    }

    /** Of those, what the bank lacks. */
    private double missing(PoolTables tables, RoutingTape tape) {
        return mean(tape, key -> tables.hotRow(key) == PoolTables.ABSENT);
    }

    private double mean(RoutingTape tape, IntPredicate counts) {
        long count = 0;
        for (int call = 0; call < tape.forwards() * tape.layers(); call++) {
            int layer = call % tape.layers();
            count += Arrays.stream(tape.ids(), call * tape.lanes(), (call + 1) * tape.lanes())
                    .distinct()
                    .filter(expert -> counts.test(layer * geometry.experts() + expert))
                    .count();
        }
        return (double) count / (tape.forwards() * tape.layers());
    }
}
