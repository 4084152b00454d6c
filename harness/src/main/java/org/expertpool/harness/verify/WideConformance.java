package org.expertpool.harness.verify;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.MoeShape;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;
import org.expertpool.pool.route.StreamPlan;

/**
 * Calls of any width beside all experts resident: the engines whose rows never move, and the partition path, by the host
 * view and by streaming through rings of two sizes, with any residents and the gate open; the placement where streamed
 * experts stay; and wide calls in the midst of planned ones.
 */
final class WideConformance {
    private static final int FORWARDS = 2;
    private static final int PROMOTED = 24;
    private static final RowCheck SAMPLE = new RowCheck(16, 3);
    private static final StreamPlan.Shape SMALL_RING = new StreamPlan.Shape(7, 3, 1);

    private final EngineShape shape;
    private final DeviceModel model;
    private final Forwards forwards;
    private final Forwards.Report report;

    WideConformance(EngineShape shape, DeviceModel model, Forwards.Report report) {
        this.shape = shape;
        this.model = model;
        this.report = report;
        forwards = new Forwards(model);
    }

    void run(LayerEngine resident, List<LayerEngine> others) {
        Map<Integer, List<Long>> expected = new HashMap<>(); // by tokens
        for (int tokens : shape.wide()) {
            RoutingTape tape = tape(tokens);
            expected.put(tokens, forwards.hashes(resident, tape, DecodeGraph.NONE));
            for (DecodeGraph mode : isLargest(tokens) ? List.<DecodeGraph>of() : modes(tokens)) {
                String suffix = suffix(tokens, mode);
                report.compare("wide resident" + suffix, () -> compare(expected.get(tokens), resident, tape, mode));
                for (LayerEngine engine : others) {
                    report.compare(
                            "wide " + engine.name() + suffix, () -> compare(expected.get(tokens), engine, tape, mode));
                }
            }
        }
        for (int rows : shape.rows()) {
            List<Integer> widths = shape.wide().stream()
                    .filter(tokens -> !isLargest(tokens) || rows == shape.rows().get(1)) // one N is enough there
                    .toList();
            try (DevicePool pool = placed(rows)) {
                widths.forEach(tokens -> unchanged(pool, tape(tokens), expected.get(tokens)));
            }
            for (int tokens : widths) {
                String name = ", N=" + rows + ", " + tokens + " tokens";
                report.compare(
                        "streamed, " + PROMOTED + " a call stay" + name,
                        () -> promoted(rows, tape(tokens), expected.get(tokens)));
                if (!isLargest(tokens)) {
                    report.compare(
                            "planned and wide in turn" + name,
                            () -> inTurn(rows, resident, tape(tokens), expected.get(tokens)));
                }
            }
        }
    }

    private RoutingTape tape(int tokens) {
        return shape.tape(tokens, FORWARDS, tokens);
    }

    /** Some seconds a comparison. */
    private static boolean isLargest(int tokens) {
        return tokens == MoeShape.MAX_TOKENS;
    }

    private static List<DecodeGraph> modes(int tokens) {
        return isLargest(tokens) ? List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE) : List.of(DecodeGraph.values());
    }

    private static String suffix(int tokens, DecodeGraph mode) {
        return ", " + tokens + " tokens, " + mode.name().toLowerCase(Locale.ROOT);
    }

    /** Every way over the same residents, which none of them changes. */
    private void unchanged(DevicePool pool, RoutingTape tape, List<Long> expected) {
        int tokens = tape.lanes() / shape.topK();
        String rows = ", N=" + pool.config().rows();
        for (DecodeGraph mode : modes(tokens)) {
            report.compare(
                    "host view" + rows + suffix(tokens, mode),
                    () -> unchanged(pool, new WidePool.HostView(), tape, mode, expected));
        }
        for (StreamPlan.Shape ring : List.of(StreamPlan.Shape.DEFAULT, SMALL_RING)) {
            report.compare(
                    "streamed, ring of " + ring.ringRows() + rows + ", " + tokens + " tokens",
                    () -> unchanged(pool, new WidePool.Streamed(ring, 0), tape, DecodeGraph.NONE, expected));
        }
    }

    private Verification.Outcome compare(List<Long> expected, LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        return outcome(tape, 0, Forwards.difference(expected, forwards.hashes(engine, tape, mode)));
    }

    /** Same outputs, and tables as before although the gate is open. */
    private Verification.Outcome unchanged(
            DevicePool pool, WidePool.Way way, RoutingTape tape, DecodeGraph mode, List<Long> expected) {
        pool.closeGate(); // calls are prepared before it opens
        try (DeviceForward forward = forwards.prepare(new WidePool(pool, way), tape, mode)) {
            pool.openGate(RowCheck.SAMPLED);
            PoolTables before = pool.tables();
            List<Long> actual = Forwards.hashes(forward.run(FORWARDS), FORWARDS);
            return outcome(
                    tape,
                    0,
                    Forwards.difference(expected, actual)
                            .or(() -> before.firstDifference(pool.tables()))
                            .or(() -> DecodeConformance.failure(() -> pool.check(RowCheck.SAMPLED))));
        }
    }

    /** Same outputs, tables as the rule says, and the rows that they name. */
    private Verification.Outcome promoted(int rows, RoutingTape tape, List<Long> expected) {
        try (DevicePool pool = placed(rows);
                DeviceForward forward = forwards.prepare(
                        new WidePool(pool, new WidePool.Streamed(StreamPlan.Shape.DEFAULT, PROMOTED)),
                        tape,
                        DecodeGraph.NONE)) {
            pool.openGate(SAMPLE);
            PoolTables reference = pool.tables();
            List<Long> actual = Forwards.hashes(forward.run(FORWARDS), FORWARDS);
            int kept = 0;
            for (int call = 0; call < FORWARDS * tape.layers(); call++) {
                int[] laneCounts = new int[shape.experts()];
                for (int lane = call * tape.lanes(); lane < (call + 1) * tape.lanes(); lane++) {
                    laneCounts[tape.ids()[lane]]++;
                }
                kept += PrefillPromotion.apply(reference, call % tape.layers(), laneCounts, PROMOTED)
                        .size();
            }
            return outcome(
                    tape,
                    kept,
                    Forwards.difference(expected, actual)
                            .or(() -> reference.firstDifference(pool.tables()))
                            .or(() -> DecodeConformance.failure(() -> pool.check(SAMPLE))));
        }
    }

    /** Planned forwards that promote, with a wide one after each: same outputs, and tables as if those had not been. */
    private Verification.Outcome inTurn(int rows, LayerEngine resident, RoutingTape wide, List<Long> expected) {
        RoutingTape narrow = shape.tape(1, 2 * FORWARDS, 3);
        List<Long> expectedNarrow = forwards.hashes(resident, narrow, DecodeGraph.NONE);
        PoolControls open = PoolControls.DEFAULTS.withGate(true);
        try (DevicePool pool = DevicePool.install(model, shape.pool(rows), Forwards.COPY_BLOCKS);
                DeviceForward planned = forwards.prepare(pool, narrow, DecodeGraph.FULL_DECODE);
                DeviceForward hostView =
                        forwards.prepare(new WidePool(pool, new WidePool.HostView()), wide, DecodeGraph.FULL_DECODE);
                DeviceForward streamed = forwards.prepare(
                        new WidePool(pool, new WidePool.Streamed(SMALL_RING, 0)), wide, DecodeGraph.NONE)) {
            pool.openGate(SAMPLE);
            List<Long> actualNarrow = new ArrayList<>();
            List<List<Long>> actual = List.of(new ArrayList<>(), new ArrayList<>());
            for (int forward = 0; forward < FORWARDS; forward++) {
                actualNarrow.add(planned.run(1).hash(2L * forward));
                actual.get(0).add(hostView.run(1).hash(forward));
                actualNarrow.add(planned.run(1).hash(2L * forward + 1));
                actual.get(1).add(streamed.run(1).hash(forward));
            }
            return new Verification.Outcome(
                    4L * FORWARDS,
                    planned.routes().counts().promoted(),
                    planned.routes().counts().staged(),
                    Forwards.difference(expectedNarrow, actualNarrow)
                            .or(() -> Forwards.difference(expected, actual.get(0)))
                            .or(() -> Forwards.difference(expected, actual.get(1)))
                            .or(() -> DecodeConformance.placement(pool, open, narrow)));
        }
    }

    /** A pool whose residents are any n experts of each layer, in any order. */
    private DevicePool placed(int rows) {
        DevicePool pool = DevicePool.install(model, shape.pool(rows), Forwards.COPY_BLOCKS);
        Random random = new Random(rows);
        pool.place(PoolTables.placed(
                pool.config(),
                layer -> random.ints(0, shape.experts()).distinct().limit(rows).toArray()));
        return pool;
    }

    private static Verification.Outcome outcome(RoutingTape tape, int promoted, Optional<String> difference) {
        return new Verification.Outcome(tape.forwards(), promoted, 0, difference);
    }
}
