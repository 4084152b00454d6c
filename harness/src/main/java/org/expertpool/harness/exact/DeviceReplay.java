package org.expertpool.harness.exact;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.HostPlans;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.LayerRest;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;

/**
 * One pass of a trace through an engine on the device. Forwards of one kind share a tape and, if asked, a graph; the
 * trace's order is kept. Everything is prepared in the constructor, before a pool's gate is opened.
 */
public final class DeviceReplay implements AutoCloseable {
    /**
     * How forwards of a kind are made.
     *
     * @param counted whether {@link Result#planned} counts them
     * @param reading of outputs before what comes next is routed
     * @param rest what each layer does beside its experts
     * @param contextTokens that decode forwards have behind them; prefill chunks read as far as they reach
     */
    public record Way(
            LayerEngine engine,
            boolean counted,
            RouteReplay.Reading reading,
            DecodeGraph mode,
            LayerRest rest,
            long contextTokens) {}

    /**
     * What came out.
     *
     * @param outputs the device's hashes of every forward's outputs
     * @param forwards forwards in the score window
     * @param decodeMicros time of each decode forward among them on the device, in order
     * @param steadyTokens tokens of those that follow another one at once
     * @param steadyMicros their time: what decode speed is, the first token of a run left out
     * @param prefill of the window's prefill chunks
     * @param planned what counted calls of the window's forwards selected, and copied by the device's own plans
     * @param hostPlanned what the host's plans moved for them
     */
    public record Result(
            OutputHashes outputs,
            long forwards,
            List<Double> decodeMicros,
            long steadyTokens,
            double steadyMicros,
            Prefill prefill,
            RouteReplay.Counts planned,
            HostPlans hostPlanned) {}

    /**
     * What prefill took.
     *
     * @param tokens of the window's chunks
     * @param micros their time on the device
     * @param prompts sequences that started with one of them
     */
    public record Prefill(long tokens, double micros, long prompts) {}

    private static final int MOST_VALUES = 1 << 28;
    private static final int MOST_INPUT_TOKENS = 2048; // over all layers: wide calls of several layers share inputs

    /** Forwards of one width, all prefill chunks or none: they share a tape and, if asked, a graph. */
    public record Kind(int tokens, boolean prefill) implements Comparable<Kind> {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingInt(Kind::tokens).thenComparing(Kind::prefill);

        static Kind of(ForwardCursor cursor) {
            return new Kind(cursor.tokens(), cursor.isPrefill());
        }

        @Override
        public int compareTo(Kind other) {
            return ORDER.compare(this, other);
        }
    }

    /** Forwards of one kind that follow each other in one sequence and are all scored or none. */
    private record Stretch(Kind kind, boolean scored, boolean startsSequence, int position, int forwards) {
        boolean takes(Stretch next) {
            return kind.equals(next.kind) && scored == next.scored && !(kind.prefill && next.startsSequence);
        }

        Prefill addTo(Prefill before, double[] micros) {
            return new Prefill(
                    before.tokens + (long) kind.tokens * forwards,
                    before.micros + Arrays.stream(micros).sum(),
                    before.prompts + (startsSequence ? 1 : 0));
        }

        Stretch longer() {
            return new Stretch(kind, scored, startsSequence, position, forwards + 1);
        }
    }

    private final List<Stretch> stretches = new ArrayList<>();
    private final Map<Kind, DeviceForward> forwards = new TreeMap<>();
    private final Map<Kind, LayerEngine> counted = new TreeMap<>();
    private final Set<Kind> growing = new HashSet<>(); // read more of the KV cache from chunk to chunk

    /** @param ways how forwards of a kind are made */
    public DeviceReplay(
            RoutingTrace trace, ScoreWindow window, DeviceModel model, Function<Kind, Way> ways, long seed) {
        try (CudaContext.Attempt all = model.context().attempt()) {
            survey(trace, window).forEach((kind, count) -> {
                Way way = ways.apply(kind);
                if (way.counted()) {
                    counted.put(kind, way.engine());
                }
                ForwardSpec spec = new ForwardSpec(
                        kind.tokens,
                        tape(trace, window, kind, count),
                        Math.max(1, Math.min(model.layers(), MOST_INPUT_TOKENS / kind.tokens)),
                        seed,
                        count,
                        way.reading(),
                        way.mode(),
                        way.rest());
                DeviceForward forward = new DeviceForward(model, way.engine(), spec);
                forwards.put(kind, forward);
                if (kind.prefill && way.rest().readsContext()) {
                    growing.add(kind);
                } else {
                    forward.setContext(way.contextTokens());
                }
            });
            all.succeeded();
        }
    }

    private Map<Kind, Integer> survey(RoutingTrace trace, ScoreWindow window) {
        Map<Kind, Integer> counts = new TreeMap<>();
        window.walk(trace, (cursor, scored) -> {
            Kind kind = Kind.of(cursor);
            counts.merge(kind, 1, Integer::sum);
            Stretch next = new Stretch(kind, scored, cursor.startsSequence(), cursor.position(), 1);
            int last = stretches.size() - 1;
            if (last >= 0 && stretches.get(last).takes(next)) {
                stretches.set(last, stretches.get(last).longer());
            } else {
                stretches.add(next);
            }
        });
        return counts;
    }

    private static RoutingTape tape(RoutingTrace trace, ScoreWindow window, Kind kind, int count) {
        int layers = trace.shape().layers();
        int lanes = kind.tokens * trace.shape().topK();
        long values = (long) count * layers * lanes;
        if (values > MOST_VALUES) {
            throw new BadInputException("trace: " + count + " forwards of " + kind.tokens + " tokens have " + values
                    + " routed lanes, expected at most " + MOST_VALUES + " on a device");
        }
        int[] ids = new int[(int) values];
        float[] weights = new float[(int) values];
        int[] callIds = new int[lanes];
        float[] callWeights = new float[lanes];
        int[] at = {0};
        window.walk(trace, (cursor, scored) -> {
            for (int layer = 0; layer < layers && Kind.of(cursor).equals(kind); layer++) {
                cursor.ids(layer, callIds);
                cursor.weights(layer, callWeights);
                System.arraycopy(callIds, 0, ids, at[0], lanes);
                System.arraycopy(callWeights, 0, weights, at[0], lanes);
                at[0] += lanes;
            }
        });
        return new RoutingTape(count, layers, lanes, ids, weights);
    }

    /**
     * Runs the whole pass.
     *
     * @param between run before each stretch of forwards that share width and kind; the device is idle then
     */
    public Result run(Runnable between) {
        OutputHashes outputs = new OutputHashes();
        Map<Kind, Long> done = new TreeMap<>();
        List<Double> decode = new ArrayList<>();
        long scored = 0;
        long steadyTokens = 0;
        double steadyMicros = 0;
        Prefill prefill = new Prefill(0, 0, 0);
        RouteReplay.Counts planned = new RouteReplay.Counts(0, 0, 0, 0);
        HostPlans hostPlanned = HostPlans.NONE;
        for (Stretch stretch : stretches) {
            between.run();
            DeviceForward forward = forwards.get(stretch.kind);
            LayerEngine engine = counted.get(stretch.kind);
            HostPlans hostBefore = engine == null ? HostPlans.NONE : engine.hostPlans();
            RouteReplay.Counts before = forward.routes().counts();
            double[] micros = time(forward, stretch);
            RouteReplay.Counts after = forward.routes().counts();
            long from = done.getOrDefault(stretch.kind, 0L);
            for (int i = 0; i < stretch.forwards; i++) {
                outputs.add(forward.routes().hash(from + i), stretch.scored && !stretch.kind.prefill);
            }
            done.put(stretch.kind, from + stretch.forwards);
            if (!stretch.scored) {
                continue;
            }
            scored += stretch.forwards;
            if (engine != null) {
                planned = planned.plus(after.minus(before));
                hostPlanned = hostPlanned.plus(engine.hostPlans().minus(hostBefore));
            }
            if (stretch.kind.prefill) {
                prefill = stretch.addTo(prefill, micros);
            } else {
                Arrays.stream(micros).forEach(decode::add);
                steadyTokens += (long) stretch.kind.tokens * (stretch.forwards - 1);
                steadyMicros += Arrays.stream(micros).skip(1).sum();
            }
        }
        return new Result(outputs, scored, decode, steadyTokens, steadyMicros, prefill, planned, hostPlanned);
    }

    /** Chunks whose reads of the KV cache grow are timed one by one, with the host between them. */
    private double[] time(DeviceForward forward, Stretch stretch) {
        if (!growing.contains(stretch.kind)) {
            return forward.time(stretch.forwards);
        }
        double[] micros = new double[stretch.forwards];
        for (int i = 0; i < micros.length; i++) {
            forward.setContext(stretch.position + (i + 1L) * stretch.kind.tokens);
            micros[i] = forward.time(1)[0];
        }
        return micros;
    }

    @Override
    public void close() {
        forwards.values().forEach(DeviceForward::close);
    }
}
