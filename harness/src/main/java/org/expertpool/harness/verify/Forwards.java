package org.expertpool.harness.verify;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.MoeShape;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;

/** Whole forwards of one model, with the same inputs for all engines, and the hashes of all that they put out. */
record Forwards(DeviceModel model) {
    /** Takes in one comparison and runs it. */
    interface Report {
        void compare(String name, Supplier<Verification.Outcome> comparison);
    }

    static final int COPY_BLOCKS = 16;

    /** For graph mode piecewise, which needs something between the layers. */
    private static final long DENSE_BYTES = 1 << 12;

    /** Hashes of all forwards of a tape. */
    List<Long> hashes(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        try (DeviceForward forward = prepare(engine, tape, mode)) {
            return hashes(forward.run(tape.forwards()), tape.forwards());
        }
    }

    DeviceForward prepare(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        int tokens = tape.lanes() / model.shape().topK();
        int inputs = tokens == MoeShape.MAX_TOKENS ? 1 : model.layers(); // hundreds of MB each there
        ForwardSpec spec = ForwardSpec.of(tokens, tape, inputs, 1, tape.forwards(), mode);
        return new DeviceForward(
                model, engine, mode == DecodeGraph.PIECEWISE ? spec.withDenseBytes(DENSE_BYTES) : spec);
    }

    /** Hashes of forwards 0 to n - 1. */
    static List<Long> hashes(RouteReplay routes, int forwards) {
        return IntStream.range(0, forwards).mapToObj(routes::hash).toList();
    }

    /** The first forward whose hash is not the one expected. */
    static Optional<String> difference(List<Long> expected, List<Long> actual) {
        if (expected.size() != actual.size()) {
            return Optional.of(actual.size() + " forwards, expected " + expected.size());
        }
        return IntStream.range(0, expected.size())
                .filter(forward -> !expected.get(forward).equals(actual.get(forward)))
                .mapToObj(forward -> "forward " + forward + " differs from resident")
                .findFirst();
    }
}
