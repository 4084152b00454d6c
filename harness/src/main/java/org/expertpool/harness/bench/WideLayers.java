package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.route.StreamPlan;

/**
 * Times of prefill chunks on the partition path: the host view and streaming, with none and with about half of each
 * layer's experts resident. Routing is read after the output before; the cut of the call, the host's wait for it, copies,
 * GEMMs and sum are inside. Every way must give the same outputs.
 */
final class WideLayers {
    private static final int COPY_BLOCKS = 16;
    private static final int HOST_VIEW_FORWARDS = 3;
    private static final int TAPE_FORWARDS = 2;

    private final DeviceModel model;
    private final PoolConfig config;
    private final RoutingTape tape;
    private final int forwards;
    private final Consumer<String> progress;
    private final List<WideTime> times = new ArrayList<>();
    private long expectedHash;

    /**
     * @param config of the pool; its rows a layer are the most that are resident
     * @param tokens of a chunk
     * @param forwards timed for each figure
     */
    WideLayers(DeviceModel model, PoolConfig config, int tokens, int forwards, Consumer<String> progress) {
        this.model = model;
        this.config = config;
        this.forwards = forwards;
        this.progress = progress;
        tape = UniformTape.of(config.experts(), model.shape().topK(), model.layers(), tokens, TAPE_FORWARDS, tokens);
    }

    /** @param residents residents a layer to time streaming with, ascending */
    List<WideTime> run(int... residents) {
        WidePool.Way streamed = new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0);
        try (DevicePool pool = DevicePool.install(model, config, COPY_BLOCKS)) {
            for (int perLayer : residents) {
                PoolTables random = RandomPlacement.of(config, perLayer, perLayer);
                pool.place(random);
                time(pool, streamed, perLayer, "random", DecodeGraph.NONE, forwards);
                if (perLayer == residents[0] || perLayer == residents[1]) {
                    time(
                            pool,
                            new WidePool.HostView(),
                            perLayer,
                            "random",
                            DecodeGraph.FULL_DECODE,
                            HOST_VIEW_FORWARDS);
                }
            }
        }
        return List.copyOf(times);
    }

    private void time(DevicePool pool, WidePool.Way way, int residents, String placement, DecodeGraph mode, int count) {
        WidePool engine = new WidePool(pool, way);
        int tokens = tape.lanes() / model.shape().topK();
        long missing = missing(pool.tables());
        try (DeviceForward forward = new DeviceForward(
                model, engine, tokens, tape, 4, 1, TAPE_FORWARDS, RouteReplay.Reading.FIRST_TOKEN, mode)) {
            forward.run(TAPE_FORWARDS);
            requireSameOutput(forward.routes().hash(0), engine.name());
            LayerTime layer = LayerTime.of(
                    engine.name(),
                    mode == DecodeGraph.NONE ? "eager" : "graph",
                    tokens,
                    -1,
                    model.layers(),
                    forward.time(count));
            WideTime time = new WideTime(
                    layer,
                    placement,
                    residents,
                    (double) missing / model.layers() / TAPE_FORWARDS,
                    model.shape().row().rowBytes());
            times.add(time);
            progress.accept(String.format(
                    Locale.ROOT,
                    "%s, %d tokens, %.1f missing a layer: %.3f ms a layer, %.1f GB/s",
                    engine.name(),
                    tokens,
                    time.missingRows(),
                    time.milliseconds(),
                    time.gigabytesPerSecond()));
        }
    }

    /** Rows that the tape's forwards touch and the bank lacks. */
    private long missing(PoolTables tables) {
        long missing = 0;
        for (int call = 0; call < TAPE_FORWARDS * model.layers(); call++) {
            boolean[] touched = new boolean[config.experts()];
            for (int lane = 0; lane < tape.lanes(); lane++) {
                int expert = tape.ids()[call * tape.lanes() + lane];
                int key = config.key(call % model.layers(), expert);
                if (!touched[expert] && tables.hotRow(key) == PoolTables.ABSENT) {
                    missing++;
                }
                touched[expert] = true;
            }
        }
        return missing;
    }

    private void requireSameOutput(long hash, String name) {
        if (times.isEmpty()) {
            expectedHash = hash;
        } else if (hash != expectedHash) {
            throw new IllegalStateException("outputs of " + name + " differ from those of "
                    + times.get(0).layer().engine());
        }
    }
}
