package org.expertpool.harness.verify;

import java.util.List;
import java.util.Optional;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolTables;

/**
 * Two lanes with invalid routing in a whole run: every forward and the tables as if they were padding, a report of the first
 * one's layer and lane once the device is waited for, for as long as it is not cleared, and none after that.
 */
final class InvalidRouting {
    private static final int FORWARD = 1;

    private final EngineShape shape;
    private final Forwards forwards;
    private final int tokens;
    private final DecodeGraph mode;
    private final WidePool.Way way; // null: planned

    /** @param tokens of a call; more than one where a token has one lane */
    InvalidRouting(EngineShape shape, DeviceModel model, int tokens, DecodeGraph mode, WidePool.Way way) {
        this.shape = shape;
        this.tokens = tokens;
        this.mode = mode;
        this.way = way;
        forwards = new Forwards(model);
    }

    private record Run(List<Long> hashes, PoolTables tables, List<Optional<String>> reports) {}

    /** What is not as it must be with a bad lane in this layer, and one in the next call of another layer. */
    Optional<String> difference(int layer, LayerEngine resident) {
        int lane = tokens * shape.topK() - 1;
        RoutingTape padded = shape.tape(tokens, shape.forwards(), layer);
        RoutingTape bad = shape.tape(tokens, shape.forwards(), layer);
        int at = padded.at(FORWARD, layer) + lane;
        int later = at + padded.lanes() - 1; // the next layer call's last lane but one
        padded.ids()[at] = padded.ids()[later] = -1;
        if (layer == 0) {
            bad.ids()[at] = shape.experts();
        } else {
            bad.weights()[at] = layer == shape.layers() - 1 ? Float.NaN : -1;
        }
        bad.ids()[later] = Integer.MIN_VALUE;
        Run expected = run(padded);
        Run actual = run(bad);
        if (!expected.hashes.equals(actual.hashes)) {
            return Optional.of("outputs differ from those with the lanes as padding");
        }
        if (!expected.hashes.equals(forwards.hashes(resident, bad, mode))) {
            return Optional.of("outputs differ from resident");
        }
        if (!expected.reports.stream().allMatch(Optional::isEmpty)) {
            return Optional.of("padding reported: " + expected.reports);
        }
        return reports(actual.reports, "invalid routing at layer " + layer + ", lane " + lane + ": ")
                .or(() -> actual.tables.sha256().equals(expected.tables.sha256())
                        ? Optional.empty()
                        : Optional.of("tables differ from those with the lanes as padding"));
    }

    /** Reported twice while it is not cleared, then no more. */
    private static Optional<String> reports(List<Optional<String>> reports, String expected) {
        boolean sticks = reports.subList(0, 2).stream()
                .allMatch(report -> report.orElse("").startsWith(expected));
        return sticks && reports.get(2).isEmpty()
                ? Optional.empty()
                : Optional.of("reported " + reports + ", expected " + expected + " twice and then nothing");
    }

    private Run run(RoutingTape tape) {
        try (DevicePool pool = DevicePool.install(
                        forwards.model(), shape.pool(shape.rows().get(0)), Forwards.COPY_BLOCKS);
                DeviceForward forward = forwards.prepare(way == null ? pool : new WidePool(pool, way), tape, mode)) {
            pool.openGate(RowCheck.SAMPLED);
            List<Long> hashes = Forwards.hashes(forward.run(tape.forwards()), tape.forwards());
            PoolTables tables = pool.tables();
            Optional<String> first = report(pool);
            forward.run(1); // the tape's first forward again, which is clean
            Optional<String> second = report(pool);
            pool.clearError();
            forward.reset();
            forward.run(1);
            return new Run(hashes, tables, List.of(first, second, report(pool)));
        }
    }

    private static Optional<String> report(DevicePool pool) {
        return DecodeConformance.failure(() -> pool.synchronise("look for invalid routing"));
    }
}
