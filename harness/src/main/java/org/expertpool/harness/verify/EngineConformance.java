package org.expertpool.harness.verify;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DeviceMoeEngine;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.SplitEngine;
import org.expertpool.pool.engine.Float64Layer;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;

/**
 * The device's engines beside each other and beside float64: every forward's hash, placements, outputs of wide calls, and
 * the errors of the whole chain.
 */
public final class EngineConformance {
    /** What a comparison found. */
    public interface Listener {
        void ended(DriverKind driverKind, String name, Verification.Outcome outcome, double seconds);
    }

    private static final int COPY_BLOCKS = 16;
    private static final int[] WIDE_TOKENS = {8, 64, 512};
    private static final long DENSE_BYTES = 1 << 20;
    private static final double MOST_CHAIN_ERROR = 5e-3;
    private static final double MOST_LANE_ERROR = 1e-2;

    private static final EngineShape TINY =
            new EngineShape("3x7, top-2", 3, 7, 2, new ExpertRowLayout(64, 64), List.of(2, 4, 6), 6, 0);
    private static final EngineShape SMALL =
            new EngineShape("5x64, top-8", 5, 64, 8, new ExpertRowLayout(512, 320), List.of(8, 24, 63), 200, 0);
    private static final EngineShape REAL = new EngineShape(
            "4x512, top-10, 2560x640", 4, 512, 10, new ExpertRowLayout(2560, 640), List.of(10, 208, 511), 40, 10_000);

    private final CudaContext context;
    private final Listener listener;

    private EngineConformance(CudaContext context, Listener listener) {
        this.context = context;
        this.listener = listener;
    }

    /** Runs every comparison; {@code quick}: the tiny model alone. */
    public static void run(boolean quick, Listener listener) {
        List<EngineShape> shapes = quick ? List.of(TINY) : List.of(TINY, SMALL, REAL);
        for (EngineShape shape : shapes) {
            try (CudaContext context = CudaContext.open()) {
                new EngineConformance(context, listener).run(shape);
            }
        }
    }

    private void run(EngineShape shape) {
        PinnedSource source =
                PinnedSource.load(context, memory -> shape.weights().hostSource(memory, layer -> {}));
        DeviceModel model = DeviceModel.of(context, source, shape.topK());
        try (LayerEngine resident = FixedEngine.resident(model);
                LayerEngine uva = FixedEngine.uva(model, shape.layers() - 1);
                LayerEngine split = new SplitEngine(model, shape.experts() / 2)) {
            for (int tokens = 1; tokens <= Math.min(4, shape.planned()); tokens *= 2) {
                compareDecode(shape, model, resident, List.of(resident, uva, split), tokens);
            }
            compareWide(shape, model, resident, uva);
            new WideConformance(shape, model, resident, (name, comparison) -> report(shape, name, comparison))
                    .run(shape.partitionedTokens());
            compareWithFloat64(shape, model, resident);
            compareInvalidRouting(shape, model);
            compareLongRun(shape, model, resident);
        }
    }

    private void compareDecode(
            EngineShape shape, DeviceModel model, LayerEngine resident, List<LayerEngine> engines, int tokens) {
        RoutingTape tape = shape.tape(tokens, shape.forwards(), tokens);
        List<Long> expected = hashes(model, resident, tape, DecodeGraph.NONE);
        for (DecodeGraph mode : DecodeGraph.values()) {
            String suffix = ", " + tokens + " tokens, " + mode.name().toLowerCase(Locale.ROOT);
            for (LayerEngine engine : engines) {
                report(shape, engine.name() + suffix, () -> compare(expected, hashes(model, engine, tape, mode)));
            }
            for (int rows : shape.rows()) {
                for (PoolControls controls : controls()) {
                    String name = "pool N=" + rows + suffix + ", gate " + controls.gate() + " limit "
                            + controls.promoteLimit() + " interval " + controls.promoteInterval();
                    report(shape, name, () -> pooled(shape, model, rows, controls, tape, mode, expected));
                }
            }
        }
    }

    private static List<PoolControls> controls() {
        return List.of(PoolControls.DEFAULTS, new PoolControls(1, 0, 1, 1, 0), new PoolControls(1, 1, 2, 2, 1));
    }

    private static Verification.Outcome pooled(
            EngineShape shape,
            DeviceModel model,
            int rows,
            PoolControls controls,
            RoutingTape tape,
            DecodeGraph mode,
            List<Long> expected) {
        try (DevicePool pool = DevicePool.install(model, shape.pool(rows), COPY_BLOCKS);
                DeviceForward forward = forward(model, pool, tape, mode)) {
            pool.openGate(RowCheck.SAMPLED);
            pool.control(Map.of(
                    "gate", controls.gate(),
                    "promoteLimit", controls.promoteLimit(),
                    "promoteInterval", controls.promoteInterval(),
                    "promoteMinMisses", controls.promoteMinMisses(),
                    "protectRecent", controls.protectRecent()));
            RouteReplay routes = forward.run(tape.forwards());
            Verification.Outcome outcome = compare(expected, hashes(routes, tape.forwards()));
            Optional<String> difference = outcome.difference();
            if (difference.isEmpty()) {
                difference = placement(pool, controls, tape);
            }
            return new Verification.Outcome(
                    tape.forwards(), routes.counts().promoted(), routes.counts().staged(), difference);
        }
    }

    /** The tables after the run beside the reference planner's, and every bank row beside its host row. */
    private static Optional<String> placement(DevicePool pool, PoolControls controls, RoutingTape tape) {
        ReferencePlanner reference = new ReferencePlanner(pool.config());
        reference.controls(controls);
        int[] ids = new int[tape.lanes()];
        float[] weights = new float[tape.lanes()];
        for (int call = 0; call < tape.forwards() * tape.layers(); call++) {
            System.arraycopy(tape.ids(), call * tape.lanes(), ids, 0, ids.length);
            System.arraycopy(tape.weights(), call * tape.lanes(), weights, 0, ids.length);
            reference.step(call % tape.layers(), ids, weights, ids.length);
        }
        try {
            pool.check(new RowCheck(16, 3));
            pool.synchronise("look for invalid routing");
        } catch (PoolFailureException failure) {
            return Optional.of(failure.getMessage());
        }
        return reference.tables().firstDifference(pool.tables());
    }

    /** In the first, a middle and the last layer; launched, and in a graph's replay. */
    private void compareInvalidRouting(EngineShape shape, DeviceModel model) {
        for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
            InvalidRouting invalid = new InvalidRouting(shape, model, mode);
            for (int layer : new int[] {0, shape.layers() / 2, shape.layers() - 1}) {
                String name =
                        "invalid routing in layer " + layer + ", " + mode.name().toLowerCase(Locale.ROOT);
                report(
                        shape,
                        name,
                        () -> new Verification.Outcome(2L * shape.forwards(), 0, 0, invalid.difference(layer)));
            }
        }
    }

    private void compareLongRun(EngineShape shape, DeviceModel model, LayerEngine resident) {
        if (shape.longForwards() == 0) {
            return;
        }
        RoutingTape tape = shape.tape(1, shape.longForwards(), 99);
        List<Long> expected = hashes(model, resident, tape, DecodeGraph.FULL_DECODE);
        int rows = shape.rows().get(1);
        PoolControls open = PoolControls.DEFAULTS.withGate(true);
        report(
                shape,
                "pool N=" + rows + ", " + shape.longForwards() + " forwards with promotions",
                () -> pooled(shape, model, rows, open, tape, DecodeGraph.FULL_DECODE, expected));
    }

    /** Wide calls: host view and resident, and some of their tokens alone. */
    private void compareWide(EngineShape shape, DeviceModel model, LayerEngine resident, LayerEngine uva) {
        try (DeviceMoeEngine first = new DeviceMoeEngine(model, resident);
                DeviceMoeEngine second = new DeviceMoeEngine(model, uva)) {
            for (int tokens : WIDE_TOKENS) {
                RoutingTape call = shape.tape(tokens, 1, tokens);
                int[] ids = Arrays.copyOf(call.ids(), call.lanes());
                float[] weights = Arrays.copyOf(call.weights(), call.lanes());
                short[] activations = activations(tokens * shape.row().hidden(), tokens);
                short[] expected = first.forward(0, activations, ids, weights);
                report(shape, "uva, " + tokens + " tokens", () -> {
                    short[] actual = second.forward(0, activations, ids, weights);
                    return outcome(tokens, Arrays.equals(expected, actual) ? null : "outputs differ");
                });
                report(shape, tokens + " tokens, some alone", () -> {
                    int step = Math.max(1, tokens / 16);
                    for (int token = 0; token < tokens; token += step) {
                        if (!Arrays.equals(
                                slice(expected, token, shape.row().hidden()),
                                alone(shape, first, activations, call, token))) {
                            return outcome(token + 1, "token " + token + " differs");
                        }
                    }
                    return outcome(tokens, null);
                });
            }
        }
    }

    private static short[] alone(
            EngineShape shape, DeviceMoeEngine engine, short[] activations, RoutingTape call, int token) {
        int from = token * shape.topK();
        return engine.forward(
                0,
                slice(activations, token, shape.row().hidden()),
                Arrays.copyOfRange(call.ids(), from, from + shape.topK()),
                Arrays.copyOfRange(call.weights(), from, from + shape.topK()));
    }

    private void compareWithFloat64(EngineShape shape, DeviceModel model, LayerEngine resident) {
        int tokens = shape.row().hidden() < 512 ? 64 : 4; // enough values for the error to be a mean
        int hidden = shape.row().hidden();
        report(shape, "float64, chain and worst lane", () -> {
            RoutingTape call = shape.tape(tokens, 1, 5);
            int[] ids = Arrays.copyOf(call.ids(), call.lanes());
            short[] activations = activations(tokens * hidden, 5);
            Float64Layer reference = new Float64Layer(model.source(), shape.topK());
            try (DeviceMoeEngine engine = new DeviceMoeEngine(model, resident)) {
                float[] weights = Arrays.copyOf(call.weights(), call.lanes());
                double chain = error(
                        engine.forward(1, activations, ids, weights),
                        reference.forward(1, widen(activations), ids, weights));
                double worst = 0;
                for (int lane = 0; lane < shape.topK(); lane++) {
                    float[] only = new float[shape.topK()];
                    only[lane] = 1;
                    int[] first = Arrays.copyOf(ids, shape.topK());
                    short[] token = slice(activations, 0, hidden);
                    worst = Math.max(
                            worst,
                            error(
                                    engine.forward(1, token, first, only),
                                    reference.forward(1, widen(token), first, only)));
                }
                boolean within = chain <= MOST_CHAIN_ERROR && worst <= MOST_LANE_ERROR;
                return outcome(tokens, within ? null : "chain " + chain + ", lane " + worst);
            }
        });
    }

    private static double error(short[] actual, double[] expected) {
        double squares = 0;
        double difference = 0;
        for (int i = 0; i < actual.length; i++) {
            double off = Bf16.toFloat(actual[i]) - expected[i];
            difference += off * off;
            squares += expected[i] * expected[i];
        }
        return Math.sqrt(difference / squares);
    }

    private static double[] widen(short[] values) {
        double[] wide = new double[values.length];
        Arrays.setAll(wide, i -> Bf16.toFloat(values[i]));
        return wide;
    }

    private static short[] slice(short[] values, int token, int hidden) {
        return Arrays.copyOfRange(values, token * hidden, (token + 1) * hidden);
    }

    private static short[] activations(int count, long seed) {
        Random random = new Random(seed);
        short[] values = new short[count];
        for (int i = 0; i < count; i++) {
            values[i] = Bf16.fromFloat((float) random.nextGaussian());
        }
        return values;
    }

    private static List<Long> hashes(DeviceModel model, LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        try (DeviceForward forward = forward(model, engine, tape, mode)) {
            return hashes(forward.run(tape.forwards()), tape.forwards());
        }
    }

    private static DeviceForward forward(DeviceModel model, LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        int tokens = tape.lanes() / model.shape().topK();
        ForwardSpec spec = ForwardSpec.of(tokens, tape, model.layers(), 1, tape.forwards(), mode);
        return new DeviceForward(
                model, engine, mode == DecodeGraph.PIECEWISE ? spec.withDenseBytes(DENSE_BYTES) : spec);
    }

    private static List<Long> hashes(RouteReplay routes, int forwards) {
        List<Long> hashes = new ArrayList<>();
        for (int forward = 0; forward < forwards; forward++) {
            hashes.add(routes.hash(forward));
        }
        return hashes;
    }

    private static Verification.Outcome compare(List<Long> expected, List<Long> actual) {
        return new Verification.Outcome(expected.size(), 0, 0, difference(expected, actual));
    }

    /** The first forward whose hash is not the one expected. */
    static Optional<String> difference(List<Long> expected, List<Long> actual) {
        return IntStream.range(0, expected.size())
                .filter(forward -> !expected.get(forward).equals(actual.get(forward)))
                .mapToObj(forward -> "forward " + forward + " differs from resident")
                .findFirst();
    }

    private static Verification.Outcome outcome(int steps, String difference) {
        return new Verification.Outcome(steps, 0, 0, Optional.ofNullable(difference));
    }

    private void report(EngineShape shape, String name, Supplier<Verification.Outcome> comparison) {
        long start = System.nanoTime();
        Verification.Outcome outcome = comparison.get();
        listener.ended(context.driverKind(), shape.name() + ": " + name, outcome, (System.nanoTime() - start) * 1e-9);
    }
}
