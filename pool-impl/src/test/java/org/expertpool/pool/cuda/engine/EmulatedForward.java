package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;

/** What the child JVM of {@link DeviceForwardTest} runs: whole forwards through every engine and graph mode. */
final class EmulatedForward {
    private static final long DENSE_BYTES = 256;

    private final ForwardFixture fixture;
    private final DeviceModel model;

    private EmulatedForward(CudaContext context) {
        fixture = new ForwardFixture(context);
        model = fixture.model;
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            EmulatedForward program = new EmulatedForward(context);
            if (arguments.length > 0) {
                program.brief(Integer.parseInt(arguments[0]));
            } else {
                program.equalHashes();
                program.routedAhead();
                program.placementsAndControls();
                program.invalidRouting();
                program.lifeCycle();
                program.singleCalls();
            }
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    /** One engine in one mode, for the tests of failing calls and of what the host does. */
    private void brief(int forwards) {
        try (DevicePool pool = DevicePool.install(model, fixture.config(3), 2);
                DeviceForward forward = forward(pool, ForwardFixture.tape(1), DecodeGraph.FULL_DECODE)) {
            pool.openGate(RowCheck.ALL);
            forward.time(1);
            System.out.println(forward.run(forwards - 1).counts().forwards() + " forwards");
        }
    }

    private void equalHashes() {
        for (int tokens : new int[] {1, 2}) {
            RoutingTape tape = ForwardFixture.tape(tokens);
            List<Long> expected = new ArrayList<>();
            for (int forward = 0; forward < ForwardFixture.FORWARDS; forward++) {
                expected.add(fixture.expectedHash(tape, forward));
            }
            for (DecodeGraph mode : tokens == 1 ? List.of(DecodeGraph.values()) : List.of(DecodeGraph.FULL_DECODE)) {
                for (String name : List.of("resident", "uva", "uva rows", "pool 2", "pool 4")) {
                    try (LayerEngine engine = engine(name)) {
                        require(hashes(engine, tape, mode).equals(expected), name + ", " + mode);
                    }
                }
            }
            System.out.println(tokens + " tokens: every forward equal");
        }
    }

    /** One kernel a forward in the place of one a layer: the same hashes, counts and tables, with routing of any kind. */
    private void routedAhead() {
        for (int tokens : new int[] {1, 2, 40}) { // 40 have more lanes than are counted
            RoutingTape tape = ForwardFixture.tape(tokens);
            tape.ids()[tape.at(1, 1)] = ForwardFixture.EXPERTS;
            tape.weights()[tape.at(2, 2)] = Float.NaN;
            for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
                for (String name : tokens > 2 ? List.of("resident") : List.of("resident", "uva", "pool 2", "pool 4")) {
                    try (LayerEngine between = engine(name);
                            LayerEngine ahead = engine(name)) {
                        require(
                                seen(between, tape, mode, RouteReplay.Reading.ALL)
                                        .equals(seen(ahead, tape, mode, RouteReplay.Reading.AHEAD)),
                                name + " routed ahead, " + mode);
                    }
                }
            }
            System.out.println(tokens + " tokens routed ahead: all equal");
        }
        ForwardSpec ahead = spec(ForwardFixture.tape(1), DecodeGraph.NONE).withReading(RouteReplay.Reading.AHEAD);
        try (LayerEngine resident = FixedEngine.resident(model);
                LayerEngine rows = new SplitEngine(model, 3)) {
            System.out.println(failure(() -> new DeviceForward(model, resident, ahead.withDenseBytes(DENSE_BYTES))));
            System.out.println(failure(() -> new DeviceForward(model, rows, ahead)));
        }
    }

    /** Counts and hashes after some forwards, the tape from its middle into its second round; and a pool's tables. */
    private List<Object> seen(LayerEngine engine, RoutingTape tape, DecodeGraph mode, RouteReplay.Reading reading) {
        try (DeviceForward forward =
                new DeviceForward(model, engine, spec(tape, mode).withReading(reading))) {
            if (engine instanceof DevicePool pool) {
                pool.openGate(RowCheck.ALL);
            }
            List<Object> seen = new ArrayList<>();
            int done = 0;
            for (int forwards : new int[] {2, ForwardFixture.FORWARDS - 2, 0, ForwardFixture.FORWARDS + 1}) {
                seen.add(forward.run(forwards).counts());
                done += forwards;
                for (int i = Math.max(0, done - ForwardFixture.FORWARDS); i < done; i++) {
                    seen.add(forward.routes().hash(i));
                }
            }
            if (engine instanceof DevicePool pool) {
                pool.clearError();
                pool.check(RowCheck.ALL);
                seen.add(pool.tables().sha256());
            }
            return seen;
        }
    }

    private LayerEngine engine(String name) {
        return switch (name) {
            case "resident" -> FixedEngine.resident(model);
            case "uva" -> FixedEngine.uva(model, 2);
            case "uva rows" -> new SplitEngine(model, 3);
            default -> DevicePool.install(model, fixture.config(Integer.parseInt(name.substring(5))), 2);
        };
    }

    private List<Long> hashes(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        try (DeviceForward forward = forward(engine, tape, mode)) {
            if (engine instanceof DevicePool pool) {
                pool.openGate(RowCheck.ALL);
            }
            RouteReplay routes = forward.run(ForwardFixture.FORWARDS);
            List<Long> hashes = new ArrayList<>();
            for (int i = 0; i < ForwardFixture.FORWARDS; i++) {
                hashes.add(routes.hash(i));
            }
            return hashes;
        }
    }

    private DeviceForward forward(LayerEngine engine, RoutingTape tape, DecodeGraph mode) {
        ForwardSpec spec = spec(tape, mode);
        return new DeviceForward(
                model, engine, mode == DecodeGraph.PIECEWISE ? spec.withDenseBytes(DENSE_BYTES) : spec);
    }

    private static ForwardSpec spec(RoutingTape tape, DecodeGraph mode) {
        return ForwardSpec.of(
                tape.lanes() / ForwardFixture.TOP_K,
                tape,
                ForwardFixture.INPUTS,
                ForwardFixture.SEED,
                ForwardFixture.FORWARDS,
                mode);
    }

    private void placementsAndControls() {
        RoutingTape tape = ForwardFixture.tape(2);
        for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
            for (PoolControls controls :
                    List.of(PoolControls.DEFAULTS, new PoolControls(1, 0, 1, 1, 0), new PoolControls(1, 1, 2, 2, 1))) {
                ReferencePlanner expected =
                        fixture.replay(fixture.config(3), controls, tape, ForwardFixture.FORWARDS + 3);
                try (DevicePool pool = DevicePool.install(model, fixture.config(3), 1);
                        DeviceForward forward = forward(pool, tape, mode)) {
                    pool.openGate(RowCheck.SAMPLED);
                    pool.control(Map.of(
                            "gate", controls.gate(),
                            "promoteLimit", controls.promoteLimit(),
                            "promoteInterval", controls.promoteInterval(),
                            "promoteMinMisses", controls.promoteMinMisses(),
                            "protectRecent", controls.protectRecent()));
                    forward.run(4);
                    RouteReplay.Counts counts =
                            forward.run(ForwardFixture.FORWARDS - 1).counts();
                    require(pool.tables().sha256().equals(expected.tables().sha256()), "tables, " + controls);
                    require(pool.tables().clock() == expected.tables().clock(), "clock, " + controls);
                    require(counts.forwards() == ForwardFixture.FORWARDS + 3, "forwards");
                    require(counts.selected() == selected(tape, ForwardFixture.FORWARDS + 3), "selected");
                    require(counts.promoted() > 0 == controls.gateOpen(), "promoted");
                    require(counts.staged() > 0 != controls.equals(new PoolControls(1, 0, 1, 1, 0)), "staged");
                    pool.check(RowCheck.ALL);
                    pool.synchronise("look for errors");
                }
            }
            System.out.println(mode + ": placements as planned");
        }
    }

    private static long selected(RoutingTape tape, int forwards) {
        long selected = 0;
        for (int forward = 0; forward < forwards; forward++) {
            for (int layer = 0; layer < ForwardFixture.LAYERS; layer++) {
                int at = tape.at(forward % tape.forwards(), layer);
                selected += Arrays.stream(tape.ids(), at, at + tape.lanes())
                        .filter(id -> id >= 0)
                        .distinct()
                        .count();
            }
        }
        return selected;
    }

    /** At the first, a middle and the last layer: as if that lane were padding, and reported once it is waited for. */
    private void invalidRouting() {
        for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
            for (int layer = 0; layer < ForwardFixture.LAYERS; layer++) {
                RoutingTape padded = ForwardFixture.tape(1);
                int at = padded.at(2, layer) + 1;
                RoutingTape bad = ForwardFixture.tape(1);
                padded.ids()[at] = -1;
                bad.ids()[at] = layer == 0 ? ForwardFixture.EXPERTS : (bad.ids()[at - 1] + 1) % ForwardFixture.EXPERTS;
                bad.weights()[at] = layer == 0 ? 0.5f : layer == 1 ? -0.5f : Float.NaN;
                try (DevicePool expected = DevicePool.install(model, fixture.config(3), 2);
                        DevicePool actual = DevicePool.install(model, fixture.config(3), 2);
                        LayerEngine resident = FixedEngine.resident(model)) {
                    require(hashes(expected, padded, mode).equals(hashes(actual, bad, mode)), "outputs");
                    require(hashes(resident, bad, mode).equals(hashes(resident, padded, mode)), "resident outputs");
                    require(expected.tables().sha256().equals(actual.tables().sha256()), "tables");
                    require(
                            failure(() -> actual.synchronise("wait"))
                                    .startsWith("invalid routing at layer " + layer + ", lane 1: "),
                            "report");
                    require(failure(() -> actual.openGate(RowCheck.ALL)).contains("error is 1"), "check");
                    actual.clearError();
                    actual.synchronise("wait");
                }
            }
            System.out.println(mode + ": invalid routing reported");
        }
    }

    private void lifeCycle() {
        RoutingTape tape = ForwardFixture.tape(1);
        try (DevicePool pool = DevicePool.install(model, fixture.config(3), 2)) {
            System.out.println(failure(() -> pool.control(Map.of("gate", 1))));
            String closed = pool.tables().sha256();
            try (DeviceForward forward = forward(pool, tape, DecodeGraph.FULL_DECODE)) {
                forward.run(ForwardFixture.FORWARDS);
                require(pool.tables().sha256().equals(closed), "closed gate");
                pool.swap(1, 0, 5);
                require(pool.tables().hotRow(pool.config().key(1, 5)) == 3, "swap");
                forward.reset();
                require(forward.run(1).hash(0) == fixture.expectedHash(tape, 0), "outputs after the swap");
                pool.openGate(RowCheck.ALL);
                System.out.println(failure(() -> pool.swap(1, 5, 0)));
                pool.closeGate();
                pool.bank().fill((byte) 0xff, model.stream());
                System.out.println(failure(() -> pool.openGate(RowCheck.ALL)));
            }
        }
        System.out.println(failure(() -> DevicePool.install(model, fixture.config(1), 2)));
        System.out.println(failure(() -> FixedEngine.uva(model, 4)));
        try (LayerEngine resident = FixedEngine.resident(model)) {
            ForwardSpec aroundNothing = ForwardSpec.of(1, tape, 1, 1, 1, DecodeGraph.PIECEWISE);
            System.out.println(failure(() -> new DeviceForward(model, resident, aroundNothing)));
        }
    }

    /** One call at a time beside the Java engine, the same bits. */
    private void singleCalls() {
        ResidentEngine expected = new ResidentEngine(model.source(), ForwardFixture.TOP_K);
        Random random = new Random(3);
        try (DevicePool pool = DevicePool.install(model, fixture.config(2), 2);
                LayerEngine uva = FixedEngine.uva(model, 1);
                DeviceMoeEngine pooled = new DeviceMoeEngine(model, pool);
                DeviceMoeEngine mapped = new DeviceMoeEngine(model, uva)) {
            pool.openGate(RowCheck.SAMPLED);
            for (int call = 0; call < 8; call++) {
                int tokens = 1 + call % 3; // 3 are more than the planner takes
                int layer = call % ForwardFixture.LAYERS;
                short[] activations = new short[tokens * model.shape().row().hidden()];
                for (int i = 0; i < activations.length; i++) {
                    activations[i] = Bf16.fromFloat((float) random.nextGaussian());
                }
                int[] ids =
                        random.ints(tokens * 2L, -1, ForwardFixture.EXPERTS + 1).toArray();
                float[] weights = new float[ids.length];
                Arrays.fill(weights, 0.25f * call);
                short[] outputs = expected.forward(layer, activations, ids, weights);
                require(Arrays.equals(pooled.forward(layer, activations, ids, weights), outputs), "pool");
                require(Arrays.equals(mapped.forward(layer, activations, ids, weights), outputs), "uva");
            }
            System.out.println("single calls equal");
        }
    }

    private static String failure(Runnable call) {
        try {
            call.run();
        } catch (CudaException failure) {
            throw failure;
        } catch (IllegalStateException | IllegalArgumentException failure) {
            return failure.getMessage();
        }
        throw new AssertionError("nothing was refused");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + ": not as expected");
        }
    }
}
