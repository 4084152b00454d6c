package org.expertpool.harness.verify;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.MoeShape;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;
import org.expertpool.pool.route.StreamPlan;

/**
 * The partition path beside all experts resident: host view, launched and captured, and streaming through rings of two
 * sizes, with any residents; and the placement where streamed experts stay.
 */
final class WideConformance {
    /** Takes in one comparison. */
    interface Report {
        void compare(String name, Supplier<Verification.Outcome> comparison);
    }

    /** Without piecewise: it needs dense stand-ins between the layers, and changes nothing within a call. */
    private static final List<DecodeGraph> MODES = List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE);

    private static final int COPY_BLOCKS = 16;
    private static final int FORWARDS = 2;
    private static final int PROMOTED = 24;
    private static final RowCheck SAMPLE = new RowCheck(16, 3);
    private static final StreamPlan.Shape SMALL_RING = new StreamPlan.Shape(7, 3, 1);

    private final EngineShape shape;
    private final DeviceModel model;
    private final LayerEngine resident;
    private final Report report;

    WideConformance(EngineShape shape, DeviceModel model, LayerEngine resident, Report report) {
        this.shape = shape;
        this.model = model;
        this.resident = resident;
        this.report = report;
    }

    void run(int... tokenCounts) {
        for (int tokens : tokenCounts) {
            RoutingTape tape = shape.tape(tokens, FORWARDS, tokens);
            List<Long> expected = hashes(resident, tape, DecodeGraph.NONE);
            boolean largest = tokens == MoeShape.MAX_TOKENS; // some seconds a comparison: one N is enough
            for (int rows : largest ? shape.rows().subList(1, 2) : shape.rows()) {
                String name = ", N=" + rows + ", " + tokens + " tokens";
                for (DecodeGraph mode : MODES) {
                    report.compare(
                            "host view" + name + ", " + mode.name().toLowerCase(Locale.ROOT),
                            () -> unchanged(rows, new WidePool.HostView(), tape, mode, expected));
                }
                for (StreamPlan.Shape ring : List.of(StreamPlan.Shape.DEFAULT, SMALL_RING)) {
                    report.compare(
                            "streamed, ring of " + ring.ringRows() + name,
                            () -> unchanged(rows, new WidePool.Streamed(ring, 0), tape, DecodeGraph.NONE, expected));
                }
                report.compare("streamed, " + PROMOTED + " a call stay" + name, () -> promoted(rows, tape, expected));
            }
        }
    }

    /** Same outputs, and tables as before. */
    private Verification.Outcome unchanged(
            int rows, WidePool.Way way, RoutingTape tape, DecodeGraph mode, List<Long> expected) {
        try (DevicePool pool = placed(rows)) {
            PoolTables before = pool.tables();
            List<Long> actual = hashes(new WidePool(pool, way), tape, mode);
            return outcome(
                    tape,
                    0,
                    EngineConformance.difference(expected, actual).or(() -> before.firstDifference(pool.tables())));
        }
    }

    /** Same outputs, tables as the rule says, and the rows that they name. */
    private Verification.Outcome promoted(int rows, RoutingTape tape, List<Long> expected) {
        try (DevicePool pool = placed(rows);
                DeviceForward forward = forward(
                        new WidePool(pool, new WidePool.Streamed(StreamPlan.Shape.DEFAULT, PROMOTED)),
                        tape,
                        DecodeGraph.NONE)) {
            pool.openGate(SAMPLE);
            PoolTables reference = pool.tables();
            Optional<String> difference = EngineConformance.difference(expected, hashes(forward.run(FORWARDS)));
            int kept = 0;
            for (int call = 0; call < FORWARDS * tape.layers(); call++) {
                int[] laneCounts = new int[shape.experts()];
                for (int lane = call * tape.lanes(); lane < (call + 1) * tape.lanes(); lane++) {
                    laneCounts[tape.ids()[lane]]++;
                }
                kept += PrefillPromotion.apply(reference, call % tape.layers(), laneCounts, PROMOTED)
                        .size();
            }
            if (difference.isEmpty()) {
                difference = reference.firstDifference(pool.tables());
            }
            if (difference.isEmpty()) {
                difference = brokenRow(pool);
            }
            return outcome(tape, kept, difference);
        }
    }

    private static Optional<String> brokenRow(DevicePool pool) {
        try {
            pool.check(SAMPLE);
            return Optional.empty();
        } catch (PoolFailureException failure) {
            return Optional.of(failure.getMessage());
        }
    }

    /** A pool whose residents are any n experts of each layer, in any order. */
    private DevicePool placed(int rows) {
        DevicePool pool = DevicePool.install(model, shape.pool(rows), COPY_BLOCKS);
        Random random = new Random(rows);
        pool.place(PoolTables.placed(
                pool.config(),
                layer -> random.ints(0, shape.experts()).distinct().limit(rows).toArray()));
        return pool;
    }

    private List<Long> hashes(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        try (DeviceForward forward = forward(engine, tape, mode)) {
            return hashes(forward.run(FORWARDS));
        }
    }

    private DeviceForward forward(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        int tokens = tape.lanes() / model.shape().topK();
        int inputs = tokens == MoeShape.MAX_TOKENS ? 1 : model.layers();
        return new DeviceForward(model, engine, ForwardSpec.of(tokens, tape, inputs, 1, FORWARDS, mode));
    }

    private static List<Long> hashes(RouteReplay routes) {
        return IntStream.range(0, FORWARDS).mapToObj(routes::hash).toList();
    }

    private static Verification.Outcome outcome(RoutingTape tape, int promoted, Optional<String> difference) {
        return new Verification.Outcome(tape.forwards(), promoted, 0, difference);
    }
}
