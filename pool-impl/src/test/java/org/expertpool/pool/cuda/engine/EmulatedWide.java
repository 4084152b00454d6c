package org.expertpool.pool.cuda.engine;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;
import org.expertpool.pool.route.StreamPlan;

/** What the child JVM of {@link WidePoolTest} runs: wide calls over a pool with any residents, beside the Java engine. */
final class EmulatedWide {
    private static final int LAYERS = 2;
    private static final int TOKENS = 9;
    private static final int EXPERTS = 13;
    private static final int TOP_K = 2;
    private static final int KEEP = 4;
    private static final ExpertRowLayout ROW = new ExpertRowLayout(64, 64);
    private static final PoolConfig CONFIG = new PoolConfig(LAYERS, EXPERTS, TOP_K, 5, 1);
    private static final StreamPlan.Shape SMALL_RING = new StreamPlan.Shape(5, 2, 1);

    private final DeviceModel model;
    private final ResidentEngine expected;
    private final Random random = new Random(4);
    private short[] activations;
    private int[] ids;
    private float[] weights;

    private EmulatedWide(CudaContext context) {
        SyntheticExperts experts = new SyntheticExperts(7, LAYERS, EXPERTS, ROW);
        model = DeviceModel.of(
                context, PinnedSource.load(context, memory -> experts.hostSource(memory, layer -> {})), TOP_K);
        expected = new ResidentEngine(model.source(), TOP_K);
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            EmulatedWide program = new EmulatedWide(context);
            program.calls(new WidePool.HostView());
            program.calls(new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0));
            if (arguments.length == 0) {
                program.calls(new WidePool.Streamed(SMALL_RING, 0));
                program.calls(new WidePool.Streamed(new StreamPlan.Shape(1, 1, 1), 0));
                program.forwards();
                program.keptRows();
                program.badLanes();
                program.refusesCapture();
            }
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    /** Six calls, layer by layer, with none, some and all of the experts that are not resident. */
    private void calls(WidePool.Way way) {
        try (DevicePool pool = install();
                DeviceMoeEngine engine = new DeviceMoeEngine(model, new WidePool(pool, way))) {
            for (int round = 0; round < 6; round++) {
                place(pool);
                pool.check(RowCheck.ALL);
                String before = pool.tables().sha256();
                int others = round / 2 == 0 ? 0 : round / 2 == 1 ? 3 : EXPERTS;
                draw(pool, round % LAYERS, others);
                compare(engine, round % LAYERS, way.toString());
                require(pool.tables().sha256().equals(before), "tables of " + way);
                pool.synchronise("look for errors");
            }
        }
        System.out.println(way + ": 6 calls equal");
    }

    /** Forwards over all layers in honest order, hashes compared. */
    private void forwards() {
        try (LayerEngine resident = FixedEngine.resident(model);
                DevicePool pool = install()) {
            RoutingTape tape = tape(4);
            List<Long> hashes = hashes(resident, tape, DecodeGraph.NONE);
            WidePool hostView = new WidePool(pool, new WidePool.HostView());
            require(hashes(hostView, tape, DecodeGraph.FULL_DECODE).equals(hashes), "captured");
            System.out.println("host view: captured forwards equal");
            WidePool streamed = new WidePool(pool, new WidePool.Streamed(SMALL_RING, 0));
            require(hashes(streamed, tape, DecodeGraph.NONE).equals(hashes), "streamed forwards");
            System.out.println("streamed: eager forwards equal");
        }
    }

    private List<Long> hashes(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        try (DeviceForward forward =
                new DeviceForward(model, engine, ForwardSpec.of(TOKENS, tape, LAYERS, 1, tape.forwards(), mode))) {
            RouteReplay routes = forward.run(tape.forwards());
            return IntStream.range(0, tape.forwards()).mapToObj(routes::hash).toList();
        }
    }

    private RoutingTape tape(int forwards) {
        int values = forwards * LAYERS * TOKENS * TOP_K;
        int[] tapeIds = random.ints(values, -1, EXPERTS).toArray();
        float[] tapeWeights = new float[values];
        for (int i = 0; i < values; i++) {
            tapeWeights[i] = random.nextFloat();
        }
        return new RoutingTape(forwards, LAYERS, TOKENS * TOP_K, tapeIds, tapeWeights);
    }

    private void keptRows() {
        WidePool.Way way = new WidePool.Streamed(SMALL_RING, KEEP);
        try (DevicePool pool = install();
                DeviceMoeEngine engine = new DeviceMoeEngine(model, new WidePool(pool, way))) {
            draw(pool, 0, EXPERTS);
            compare(engine, 0, "closed gate");
            require(pool.tables().clock() == 0, "closed gate");
            pool.openGate(RowCheck.ALL);
            PoolTables tables = pool.tables();
            int kept = 0;
            for (int call = 0; call < 8; call++) {
                int layer = call % LAYERS;
                draw(pool, layer, EXPERTS);
                compare(engine, layer, "kept rows");
                int[] laneCounts = new int[EXPERTS];
                Arrays.stream(ids).filter(id -> id >= 0).forEach(id -> laneCounts[id]++);
                kept += PrefillPromotion.apply(tables, layer, laneCounts, KEEP).size();
                require(pool.tables().sha256().equals(tables.sha256()), "tables");
                require(pool.tables().clock() == tables.clock(), "clock");
                require(pool.tables().forwards() == tables.forwards(), "forwards");
                pool.check(RowCheck.ALL);
            }
            require(kept > 8, "rows that stay");
        }
        System.out.println(KEEP + " rows a call stay: 8 calls equal, placement as by the rule");
    }

    private void badLanes() {
        WidePool.Way way = new WidePool.Streamed(StreamPlan.Shape.DEFAULT, KEEP);
        try (DevicePool pool = install();
                DeviceMoeEngine engine = new DeviceMoeEngine(model, new WidePool(pool, way))) {
            pool.openGate(RowCheck.ALL);
            draw(pool, 1, EXPERTS);
            weights[1] = Float.POSITIVE_INFINITY;
            ids[3] = EXPERTS;
            compare(engine, 1, "bad lanes");
            pool.closeGate();
            String placed = failure(() -> place(pool)); // a new placement must not hide it
            require(failure(() -> pool.synchronise("look for errors")).equals(placed), "reports");
            System.out.println("bad lanes: outputs equal, " + placed);
            pool.clearError();
            place(pool);
        }
    }

    private static String failure(Runnable call) {
        try {
            call.run();
            throw new AssertionError("no error");
        } catch (PoolFailureException reported) {
            return reported.getMessage();
        }
    }

    private void refusesCapture() {
        try (DevicePool pool = install()) {
            hashes(new WidePool(pool, new WidePool.Streamed(SMALL_RING, 0)), tape(1), DecodeGraph.FULL_DECODE);
            throw new AssertionError("streaming was captured");
        } catch (BadInputException refused) {
            System.out.println(refused.getMessage());
        }
    }

    private DevicePool install() {
        return DevicePool.install(model, CONFIG, 1);
    }

    /** Any n experts of each layer become resident. */
    private void place(DevicePool pool) {
        pool.place(PoolTables.placed(
                CONFIG,
                layer -> random.ints(0, EXPERTS)
                        .distinct()
                        .limit(CONFIG.residentPerLayer())
                        .toArray()));
    }

    private static int[] experts(PoolTables tables, int layer, boolean resident) {
        return IntStream.range(0, EXPERTS)
                .filter(expert -> tables.hotRow(CONFIG.key(layer, expert)) >= 0 == resident)
                .toArray();
    }

    /** A call whose lanes go to residents and to so many others; the first one carries nothing. */
    private void draw(DevicePool pool, int layer, int others) {
        PoolTables tables = pool.tables();
        int[] from = IntStream.concat(
                        Arrays.stream(experts(tables, layer, true)),
                        Arrays.stream(experts(tables, layer, false)).limit(others))
                .toArray();
        activations = new short[TOKENS * ROW.hidden()];
        for (int i = 0; i < activations.length; i++) {
            activations[i] = Bf16.fromFloat((float) random.nextGaussian());
        }
        ids = random.ints(TOKENS * TOP_K, 0, from.length).map(i -> from[i]).toArray();
        weights = new float[ids.length];
        for (int lane = 0; lane < ids.length; lane++) {
            weights[lane] = random.nextFloat();
        }
        ids[0] = -1;
        weights[0] = Float.NaN;
    }

    private void compare(DeviceMoeEngine engine, int layer, String what) {
        short[] actual = engine.forward(layer, activations, ids, weights);
        require(Arrays.equals(actual, expected.forward(layer, activations, ids, weights)), what);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " differ");
        }
    }
}
