package org.expertpool.harness.verify;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolTables;

/**
 * A lane with invalid routing in a whole run: every forward and the tables as if that lane were padding, and a report of its
 * layer and lane once the device is waited for.
 */
final class InvalidRouting {
    private static final int COPY_BLOCKS = 16;
    private static final int FORWARD = 1;

    private final EngineShape shape;
    private final DeviceModel model;
    private final DecodeGraph mode;

    InvalidRouting(EngineShape shape, DeviceModel model, DecodeGraph mode) {
        this.shape = shape;
        this.model = model;
        this.mode = mode;
    }

    private record Run(List<Long> hashes, PoolTables tables, Optional<String> report) {}

    /** What is not as it must be with a bad lane in this layer. */
    Optional<String> difference(int layer) {
        int lane = shape.topK() - 1;
        RoutingTape padded = shape.tape(1, shape.forwards(), layer);
        RoutingTape bad = shape.tape(1, shape.forwards(), layer);
        int at = padded.at(FORWARD, layer) + lane;
        padded.ids()[at] = -1;
        if (layer == 0) {
            bad.ids()[at] = shape.experts();
        } else {
            bad.weights()[at] = layer == shape.layers() - 1 ? Float.NaN : -1;
        }
        Run expected = run(padded);
        Run actual = run(bad);
        String report = "invalid routing at layer " + layer + ", lane " + lane + ": ";
        if (!expected.hashes.equals(actual.hashes)) {
            return Optional.of("outputs differ from those with the lane as padding");
        }
        if (expected.report.isPresent() || !actual.report.orElse("").startsWith(report)) {
            return Optional.of("reported " + actual.report.orElse("nothing") + ", expected " + report);
        }
        return expected.tables.sha256().equals(actual.tables.sha256())
                ? Optional.empty()
                : Optional.of("tables differ from those with the lane as padding");
    }

    private Run run(RoutingTape tape) {
        ForwardSpec spec = ForwardSpec.of(1, tape, model.layers(), 1, tape.forwards(), mode);
        try (DevicePool pool = DevicePool.install(model, shape.pool(shape.rows().get(0)), COPY_BLOCKS);
                DeviceForward forward = new DeviceForward(model, pool, spec)) {
            pool.openGate(RowCheck.SAMPLED);
            RouteReplay routes = forward.run(tape.forwards());
            List<Long> hashes = new ArrayList<>();
            for (int i = 0; i < tape.forwards(); i++) {
                hashes.add(routes.hash(i));
            }
            return new Run(hashes, pool.tables(), report(pool));
        }
    }

    private static Optional<String> report(DevicePool pool) {
        try {
            pool.synchronise("look for invalid routing");
            return Optional.empty();
        } catch (PoolFailureException reported) {
            return Optional.of(reported.getMessage());
        }
    }
}
