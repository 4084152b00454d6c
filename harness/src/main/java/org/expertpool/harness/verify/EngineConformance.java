package org.expertpool.harness.verify;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.MoeShape;
import org.expertpool.pool.cuda.engine.SplitEngine;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.route.StreamPlan;

/** The device's engines beside each other and beside float64, on models of several shapes. */
public final class EngineConformance {
    /** What a comparison found. */
    public interface Listener {
        void ended(DriverKind driverKind, String name, Verification.Outcome outcome, double seconds);
    }

    /** What is compared. */
    enum Suite {
        DECODE,
        WIDE,
        PEERS,
        FLOAT64,
        INVALID_ROUTING
    }

    private static final ExpertRowLayout TINY_ROW = new ExpertRowLayout(64, 64);

    /** Tokens of a call with invalid routing, so that its lane is not of the first one. */
    private static final int INVALID_TOKENS = 2;

    private static final List<EngineShape> QUICK = List.of(
            new EngineShape("3x7, top-2", 3, 7, 2, TINY_ROW, List.of(3), 3, 0, List.of(1, 6), List.of(33)),
            new EngineShape("2x5, top-2", 2, 5, 2, TINY_ROW, List.of(3), 3, 0, List.of(1, 2), List.of(9)).fp16());

    /** Every width that is asked of the engines: planned up to 64 lanes, and partitioned. */
    private static final List<EngineShape> ALL = List.of(
            new EngineShape(
                    "3x7, top-2",
                    3,
                    7,
                    2,
                    TINY_ROW,
                    List.of(2, 4, 6),
                    6,
                    0,
                    List.of(1, 2, 4, 5, 8, 32),
                    List.of(1, 2, 4, 8, 64, 512)),
            new EngineShape(
                    "5x64, top-8",
                    5,
                    64,
                    8,
                    new ExpertRowLayout(512, 320),
                    List.of(8, 24, 63),
                    100,
                    0,
                    List.of(1, 2, 4, 5, 8),
                    List.of(1, 2, 4, 8, 64)),
            // Rows beyond those at which offsets in bytes or in 16-byte units leave 31 bits in other engines.
            new EngineShape(
                    "48x512, top-10, 64x64", 48, 512, 10, TINY_ROW, List.of(258), 3, 0, List.of(1, 6), List.of(8)),
            new EngineShape(
                    "4x512, top-10, 2560x640",
                    4,
                    512,
                    10,
                    new ExpertRowLayout(2560, 640),
                    List.of(10, 208, 511),
                    24,
                    10_000,
                    List.of(1, 2, 4, 6),
                    List.of(1, 2, 4, 8, 64, 512, MoeShape.MAX_TOKENS)),
            new EngineShape(
                            "2x64, top-10, 2560x640",
                            2,
                            64,
                            10,
                            new ExpertRowLayout(2560, 640),
                            List.of(10, 40),
                            20,
                            0,
                            List.of(1, 4, 5),
                            List.of(1, 8, 64, 512, 1024))
                    .fp16(),
            // One slot; as many lanes as a warp has threads; a token that no shared memory holds as a whole.
            new EngineShape("2x3, top-1, 64x64", 2, 3, 1, TINY_ROW, List.of(1, 2), 6, 0, List.of(1, 2), List.of(1, 9)),
            new EngineShape(
                    "2x40, top-32, 192x320",
                    2,
                    40,
                    32,
                    new ExpertRowLayout(192, 320),
                    List.of(32, 36),
                    6,
                    0,
                    List.of(1, 2),
                    List.of(1, 5)),
            new EngineShape(
                    "2x6, top-2, 16384x64",
                    2,
                    6,
                    2,
                    new ExpertRowLayout(16384, 64),
                    List.of(2, 4),
                    6,
                    0,
                    List.of(1, 2),
                    List.of(1, 9)));

    private final CudaContext context;
    private final Listener listener;

    private EngineConformance(CudaContext context, Listener listener) {
        this.context = context;
        this.listener = listener;
    }

    /** Runs every comparison; {@code quick}: few on a tiny model. */
    public static void run(boolean quick, Listener listener) {
        for (EngineShape shape : quick ? QUICK : ALL) {
            run(shape, EnumSet.allOf(Suite.class), listener);
        }
    }

    static void run(EngineShape shape, Set<Suite> suites, Listener listener) {
        try (CudaContext context = CudaContext.open()) {
            new EngineConformance(context, listener).run(shape, suites);
        }
    }

    private void run(EngineShape shape, Set<Suite> suites) {
        PinnedSource source =
                PinnedSource.load(context, memory -> shape.weights().hostSource(memory, layer -> {}));
        DeviceModel model = DeviceModel.of(context, source, shape.topK());
        Forwards.Report report = (name, comparison) -> {
            long start = System.nanoTime();
            Verification.Outcome outcome = comparison.get();
            listener.ended(
                    context.driverKind(), shape.name() + ": " + name, outcome, (System.nanoTime() - start) * 1e-9);
        };
        try (LayerEngine resident = FixedEngine.resident(model);
                LayerEngine uva = FixedEngine.uva(model, shape.layers() - 1);
                LayerEngine split = new SplitEngine(model, shape.experts() / 2)) {
            report.compare("rows that each engine holds on the device", () -> held(shape, resident, uva, split));
            for (Suite suite : suites) {
                switch (suite) {
                    case DECODE -> new DecodeConformance(shape, model, report).run(resident, List.of(uva, split));
                    case WIDE -> new WideConformance(shape, model, report).run(resident, List.of(uva, split));
                    case PEERS -> new PeerConformance(shape, model, report).run(resident);
                    case FLOAT64 -> new FloatConformance(shape, model, resident, report).run();
                    case INVALID_ROUTING -> compareInvalidRouting(shape, model, resident, report);
                }
            }
        }
    }

    /** Offloading that is silently off would give the same outputs. */
    private static Verification.Outcome held(
            EngineShape shape, LayerEngine resident, LayerEngine uva, LayerEngine split) {
        long layer = shape.row().rowOffset(shape.experts());
        List<Long> expected = List.of(
                shape.layers() * layer, layer, shape.layers() * shape.row().rowOffset(shape.experts() / 2));
        List<Long> actual = List.of(resident.bankBytes(), uva.bankBytes(), split.bankBytes());
        return new Verification.Outcome(
                actual.size(),
                0,
                0,
                actual.equals(expected) ? Optional.empty() : Optional.of(actual + " bytes, expected " + expected));
    }

    /** In the first, a middle and the last layer; launched, and in a graph's replay; planned, and partitioned. */
    private static void compareInvalidRouting(
            EngineShape shape, DeviceModel model, LayerEngine resident, Forwards.Report report) {
        for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
            String launched = mode.name().toLowerCase(Locale.ROOT);
            for (int tokens : shape.topK() > 1 ? List.of(1, INVALID_TOKENS) : List.of(INVALID_TOKENS)) {
                String way = "planned, " + (tokens == 1 ? "1 token, " : "") + launched;
                invalid(shape, way, new InvalidRouting(shape, model, tokens, mode, null), resident, report);
            }
            invalid(
                    shape,
                    "host view, " + launched,
                    new InvalidRouting(shape, model, INVALID_TOKENS, mode, new WidePool.HostView()),
                    resident,
                    report);
        }
        WidePool.Way streamed = new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0);
        invalid(
                shape,
                "streamed, none",
                new InvalidRouting(shape, model, INVALID_TOKENS, DecodeGraph.NONE, streamed),
                resident,
                report);
    }

    private static void invalid(
            EngineShape shape, String way, InvalidRouting routing, LayerEngine resident, Forwards.Report report) {
        IntStream.of(0, shape.layers() / 2, shape.layers() - 1)
                .distinct()
                .forEach(layer -> report.compare(
                        "invalid routing in layer " + layer + ", " + way,
                        () -> new Verification.Outcome(
                                2L * shape.forwards(), 0, 0, routing.difference(layer, resident))));
    }
}
