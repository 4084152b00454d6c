package org.expertpool.harness.verify;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;

/**
 * Planned calls of every engine, N, control and graph mode beside all experts resident, at every width; a pool's tables
 * beside the reference planner's, and its bank beside the host source.
 */
final class DecodeConformance {
    private static final RowCheck SAMPLE = new RowCheck(16, 3);
    private static final List<PoolControls> CONTROLS =
            List.of(PoolControls.DEFAULTS, new PoolControls(1, 0, 1, 1, 0), new PoolControls(1, 1, 2, 2, 1));

    private final EngineShape shape;
    private final DeviceModel model;
    private final Forwards forwards;
    private final Forwards.Report report;

    DecodeConformance(EngineShape shape, DeviceModel model, Forwards.Report report) {
        this.shape = shape;
        this.model = model;
        this.report = report;
        forwards = new Forwards(model);
    }

    void run(LayerEngine resident, List<LayerEngine> others) {
        for (int tokens : shape.planned()) {
            RoutingTape tape = shape.tape(tokens, shape.forwards(), tokens);
            List<Long> expected = forwards.hashes(resident, tape, DecodeGraph.NONE);
            for (DecodeGraph mode : DecodeGraph.values()) {
                String suffix = ", " + tokens + " tokens, " + mode.name().toLowerCase(Locale.ROOT);
                report.compare("resident" + suffix, () -> compare(expected, resident, tape, mode));
                for (LayerEngine engine : others) {
                    report.compare(engine.name() + suffix, () -> compare(expected, engine, tape, mode));
                }
                for (int rows : shape.rows()) {
                    for (PoolControls controls : CONTROLS) {
                        String name = "pool N=" + rows + suffix + ", gate " + controls.gate() + " limit "
                                + controls.promoteLimit() + " interval " + controls.promoteInterval();
                        report.compare(name, () -> pooled(rows, controls, tape, mode, expected));
                    }
                }
            }
        }
        IntStream.of(0, shape.planned().size() - 1)
                .distinct()
                .forEach(width -> duplicates(resident, shape.planned().get(width)));
        if (shape.longForwards() > 0) {
            longRun(resident);
        }
    }

    /** All lanes of a token to one expert, as a router does that takes a row of NaN for probabilities. */
    private void duplicates(LayerEngine resident, int tokens) {
        RoutingTape tape = shape.tape(tokens, shape.forwards(), 7);
        Arrays.setAll(tape.ids(), lane -> tape.ids()[lane / shape.topK() * shape.topK()]);
        List<Long> expected = forwards.hashes(resident, tape, DecodeGraph.NONE);
        int rows = shape.rows().get(0);
        report.compare(
                "pool N=" + rows + ", " + tokens + " tokens, each to one expert",
                () -> pooled(rows, PoolControls.DEFAULTS.withGate(true), tape, DecodeGraph.FULL_DECODE, expected));
    }

    private void longRun(LayerEngine resident) {
        RoutingTape tape = shape.tape(1, shape.longForwards(), 99);
        List<Long> expected = forwards.hashes(resident, tape, DecodeGraph.FULL_DECODE);
        int rows = shape.rows().get(1);
        report.compare(
                "pool N=" + rows + ", " + shape.longForwards() + " forwards with promotions",
                () -> pooled(rows, PoolControls.DEFAULTS.withGate(true), tape, DecodeGraph.FULL_DECODE, expected));
    }

    private Verification.Outcome compare(List<Long> expected, LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        return new Verification.Outcome(
                expected.size(), 0, 0, Forwards.difference(expected, forwards.hashes(engine, tape, mode)));
    }

    private Verification.Outcome pooled(
            int rows, PoolControls controls, RoutingTape tape, DecodeGraph mode, List<Long> expected) {
        try (DevicePool pool = DevicePool.install(model, shape.pool(rows), Forwards.COPY_BLOCKS);
                DeviceForward forward = forwards.prepare(pool, tape, mode)) {
            pool.openGate(RowCheck.SAMPLED);
            pool.control(Map.of(
                    "gate", controls.gate(),
                    "promoteLimit", controls.promoteLimit(),
                    "promoteInterval", controls.promoteInterval(),
                    "promoteMinMisses", controls.promoteMinMisses(),
                    "protectRecent", controls.protectRecent()));
            RouteReplay routes = forward.run(tape.forwards());
            Optional<String> difference = Forwards.difference(expected, Forwards.hashes(routes, tape.forwards()));
            return new Verification.Outcome(
                    tape.forwards(),
                    routes.counts().promoted(),
                    routes.counts().staged(),
                    difference.or(() -> placement(pool, controls, tape)));
        }
    }

    /** The tables after a tape beside the reference planner's, and bank rows beside their host rows. */
    static Optional<String> placement(DevicePool pool, PoolControls controls, RoutingTape tape) {
        ReferencePlanner reference = new ReferencePlanner(pool.config());
        reference.controls(controls);
        int[] ids = new int[tape.lanes()];
        float[] weights = new float[tape.lanes()];
        for (int call = 0; call < tape.forwards() * tape.layers(); call++) {
            System.arraycopy(tape.ids(), call * tape.lanes(), ids, 0, ids.length);
            System.arraycopy(tape.weights(), call * tape.lanes(), weights, 0, ids.length);
            reference.step(call % tape.layers(), ids, weights, ids.length);
        }
        return failure(() -> {
                    pool.check(SAMPLE);
                    pool.synchronise("look for invalid routing");
                })
                .or(() -> reference.tables().firstDifference(pool.tables()));
    }

    /** What a check of a pool reports, if it fails. */
    static Optional<String> failure(Runnable check) {
        try {
            check.run();
            return Optional.empty();
        } catch (PoolFailureException failure) {
            return Optional.of(failure.getMessage());
        }
    }
}
