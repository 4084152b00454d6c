package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.Scope;
import org.expertpool.pool.policy.StepTally;

/** What the child JVM of {@link PeerEnginesTest} runs: engines that plan on the host, and engines that stream layers. */
final class EmulatedPeers {
    private static final int PASSES = 2; // over the tape
    private static final int RUN = PASSES * ForwardFixture.FORWARDS;
    private static final long DENSE_BYTES = 256;
    private static final String EAGER_HEAT = "heat.exchange(0.9,2,1,2)";

    private final ForwardFixture fixture;
    private final DeviceModel model;
    private final Map<Integer, List<Long>> expectedHashes = new HashMap<>(); // by tokens

    private EmulatedPeers(CudaContext context) {
        fixture = new ForwardFixture(context);
        model = fixture.model;
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            EmulatedPeers program = new EmulatedPeers(context);
            if (arguments.length > 0) {
                program.brief(arguments[0]);
                return;
            }
            program.hostPlanned();
            program.heat();
            program.stream();
            program.singleCalls();
            program.refusals();
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    /** One engine, for the tests of failing calls. */
    private void brief(String name) {
        try (LayerEngine engine = engine(name)) {
            System.out.println(hashes(engine, 1, DecodeGraph.NONE).size() + " forwards");
        }
    }

    private LayerEngine engine(String name) {
        return switch (name) {
            case "host-planned" -> hostPlanned("evict.lfru", Scope.LAYER);
            case "heat" -> new HeatEngine(model, Policies.named(EAGER_HEAT), setup(Scope.GLOBAL));
            default -> new StreamEngine(model, 3);
        };
    }

    private HostPlannedEngine hostPlanned(String policy, Scope scope) {
        return new HostPlannedEngine(model, Policies.named(policy), setup(scope));
    }

    private PolicySetup setup(Scope scope) {
        return PolicySetup.of(fixture.config(3), scope, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
    }

    /** Placements by the policy alone, from the tape, and by the reference planner where it has the same rules. */
    private void hostPlanned() {
        hostPlanned("evict.lfru", Scope.LAYER, 1, DecodeGraph.NONE);
        hostPlanned("evict.lru+promote.insert-cap(1)", Scope.GLOBAL, 2, DecodeGraph.NONE);
        long promoted = hostPlanned("evict.lru", Scope.GLOBAL, 2, DecodeGraph.PIECEWISE);
        require(promoted == reference(2), "promoted, by the reference planner");
        System.out.println("host-planned: outputs and placements as expected");
        try (HostPlannedEngine engine = hostPlanned("evict.lfru", Scope.GLOBAL);
                DeviceForward narrow = forward(engine, 1, DecodeGraph.NONE);
                DeviceForward wide = forward(engine, 5, DecodeGraph.NONE)) {
            engine.openGate();
            requireEqual(narrow, 1, ForwardFixture.FORWARDS);
            HostPlans before = engine.hostPlans();
            requireEqual(wide, 5, 2);
            require(engine.hostPlans().equals(before), "wide calls moved rows");
            narrow.reset();
            requireEqual(narrow, 1, 2);
            engine.check(RowCheck.ALL);
            System.out.println("host-planned: wide calls between equal");
        }
    }

    private long hostPlanned(String policy, Scope scope, int tokens, DecodeGraph mode) {
        try (HostPlannedEngine engine = hostPlanned(policy, scope);
                DeviceForward forward = forward(engine, tokens, mode)) {
            requireEqual(forward, tokens, 1);
            require(engine.hostPlans().promoted() == 0, "promoted behind a closed gate");
            forward.reset();
            HostPlans before = engine.hostPlans();
            engine.openGate();
            requireEqual(forward, tokens, RUN);
            engine.check(RowCheck.ALL);
            StepTally expected = replay(policy, scope, tokens);
            HostPlans plans = engine.hostPlans().minus(before);
            require(plans.promoted() > 0, "nothing promoted");
            require(plans.equals(new HostPlans(expected.promoted, expected.staged, 0)), policy + ": " + plans);
            return plans.promoted();
        }
    }

    private long reference(int tokens) {
        ReferencePlanner planner = new ReferencePlanner(fixture.config(3));
        planner.controls(PoolControls.DEFAULTS.withGate(true));
        RoutingTape tape = ForwardFixture.tape(tokens);
        long promoted = 0;
        for (int call = 0; call < RUN * ForwardFixture.LAYERS; call++) {
            int layer = call % ForwardFixture.LAYERS;
            int at = tape.at(call / ForwardFixture.LAYERS % tape.forwards(), layer);
            int[] ids = new int[tape.lanes()];
            float[] weights = new float[tape.lanes()];
            System.arraycopy(tape.ids(), at, ids, 0, ids.length);
            System.arraycopy(tape.weights(), at, weights, 0, ids.length);
            promoted += planner.step(layer, ids, weights, ids.length).promoted();
        }
        return promoted;
    }

    private StepTally replay(String policy, Scope scope, int tokens) {
        PolicySetup setup = Policies.named(policy).settle(setup(scope));
        PlacementPolicy placement = Policies.named(policy).create(setup);
        RoutingTape tape = ForwardFixture.tape(tokens);
        StepTally tally = new StepTally();
        RoutingEvent event = new RoutingEvent(ForwardFixture.EXPERTS);
        for (int forward = 0; forward < RUN; forward++) {
            for (int layer = 0; layer < ForwardFixture.LAYERS; layer++) {
                event.layer = layer;
                event.size = 0;
                int at = tape.at(forward % tape.forwards(), layer);
                for (int lane = at; lane < at + tape.lanes(); lane++) {
                    int expert = tape.ids()[lane];
                    boolean seen = expert < 0;
                    for (int i = 0; i < event.size; i++) {
                        seen |= event.experts[i] == expert;
                    }
                    if (!seen) {
                        event.weights[event.size] = tape.weights()[lane];
                        event.experts[event.size++] = expert;
                    }
                }
                placement.step(event, tally);
            }
        }
        return tally;
    }

    private void heat() {
        for (DecodeGraph mode : DecodeGraph.values()) {
            Scope scope = mode == DecodeGraph.NONE ? Scope.LAYER : Scope.GLOBAL;
            try (HeatEngine engine = new HeatEngine(model, Policies.named(EAGER_HEAT), setup(scope));
                    DeviceForward forward = forward(engine, 2, mode)) {
                requireEqual(forward, 2, RUN);
                engine.check(RowCheck.ALL);
                StepTally expected = replay(EAGER_HEAT, scope, 2);
                HostPlans plans = engine.hostPlans();
                require(plans.exchanged() > 0, "nothing exchanged");
                require(
                        plans.equals(new HostPlans(0, expected.staged, expected.exchanged)),
                        scope + ", " + mode + ": " + plans);
            }
        }
        try (LayerEngine engine = engine("heat");
                DeviceForward wide = forward(engine, 5, DecodeGraph.FULL_DECODE)) {
            requireEqual(wide, 5, 2);
            require(engine.hostPlans().equals(HostPlans.NONE), "wide calls moved rows");
        }
        System.out.println("heat: outputs and placements as expected");
    }

    private void stream() {
        Map<DecodeGraph, Integer> residentRows =
                Map.of(DecodeGraph.NONE, 0, DecodeGraph.FULL_DECODE, 3, DecodeGraph.PIECEWISE, ForwardFixture.EXPERTS);
        for (DecodeGraph mode : DecodeGraph.values()) {
            int residents = residentRows.get(mode);
            for (int tokens : new int[] {1, 5}) {
                try (LayerEngine engine = new StreamEngine(model, residents);
                        DeviceForward forward = forward(engine, tokens, mode)) {
                    requireEqual(forward, tokens, 3);
                }
            }
        }
        MoeShape shape = model.shape();
        long layerBytes = shape.row().rowOffset(ForwardFixture.EXPERTS);
        long[] budgets = {0, layerBytes - 1, layerBytes, 2 * layerBytes + 1, 3 * layerBytes, Long.MAX_VALUE};
        require(
                Arrays.equals(
                        Arrays.stream(budgets)
                                .map(bytes -> FixedEngine.hostLayers(model, bytes))
                                .toArray(),
                        new long[] {3, 3, 2, 1, 0, 0}),
                "layers that stay on the host within a budget");
        require(StreamEngine.residents(shape, 3, 7) == 2, "21 rows less 14, of 3 layers");
        require(StreamEngine.residents(shape, 3, 4) == -1, "12 rows less 14");
        System.out.println("stream: outputs as expected, and uva's budgets");
    }

    /** In an order of layers that no forward has. */
    private void singleCalls() {
        ResidentEngine expected = new ResidentEngine(model.source(), ForwardFixture.TOP_K);
        for (String name : List.of("host-planned", "heat", "stream")) {
            try (LayerEngine engine = engine(name);
                    DeviceMoeEngine single = new DeviceMoeEngine(model, engine)) {
                for (int layer : new int[] {2, 0, 1, 1, 0, 2, 2}) {
                    RoutingTape tape = ForwardFixture.tape(2);
                    int[] ids = new int[tape.lanes()];
                    float[] weights = new float[tape.lanes()];
                    System.arraycopy(tape.ids(), tape.at(1, layer), ids, 0, ids.length);
                    System.arraycopy(tape.weights(), tape.at(1, layer), weights, 0, ids.length);
                    short[] activations = new short[2 * model.shape().row().hidden()];
                    for (int i = 0; i < activations.length; i++) {
                        activations[i] = Bf16.fromFloat(i % 7 - 3);
                    }
                    require(
                            Arrays.equals(
                                    single.forward(layer, activations, ids, weights),
                                    expected.forward(layer, activations, ids, weights)),
                            name + ", layer " + layer);
                }
            }
        }
        System.out.println("single calls equal");
    }

    private void refusals() {
        try (LayerEngine engine = engine("host-planned")) {
            System.out.println(refusal(() -> forward(engine, 1, DecodeGraph.FULL_DECODE)));
            System.out.println(refusal(() -> forward(engine, 5, DecodeGraph.FULL_DECODE)));
        }
        System.out.println(refusal(() -> hostPlanned("bound.belady", Scope.GLOBAL)));
        System.out.println(refusal(() -> hostPlanned("heat", Scope.GLOBAL)));
        System.out.println(refusal(() -> new HeatEngine(model, Policies.named("evict.lru"), setup(Scope.GLOBAL))));
        System.out.println(refusal(() -> new StreamEngine(model, ForwardFixture.EXPERTS + 1)));
        PoolConfig otherModel = new PoolConfig(2, ForwardFixture.EXPERTS, ForwardFixture.TOP_K, 3, 2);
        PolicySetup other =
                PolicySetup.of(otherModel, Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
        System.out.println(refusal(() -> new HostPlannedEngine(model, Policies.named("lru"), other)));
    }

    private DeviceForward forward(LayerEngine engine, int tokens, DecodeGraph mode) {
        ForwardSpec spec = ForwardSpec.of(
                tokens, ForwardFixture.tape(tokens), ForwardFixture.INPUTS, ForwardFixture.SEED, RUN, mode);
        return new DeviceForward(
                model, engine, mode == DecodeGraph.PIECEWISE ? spec.withDenseBytes(DENSE_BYTES) : spec);
    }

    private List<Long> hashes(LayerEngine engine, int tokens, DecodeGraph mode) {
        try (DeviceForward forward = forward(engine, tokens, mode)) {
            List<Long> hashes = new ArrayList<>();
            RouteReplay routes = forward.run(ForwardFixture.FORWARDS);
            for (int i = 0; i < ForwardFixture.FORWARDS; i++) {
                hashes.add(routes.hash(i));
            }
            return hashes;
        }
    }

    private void requireEqual(DeviceForward forward, int tokens, int forwards) {
        RoutingTape tape = ForwardFixture.tape(tokens);
        List<Long> expected = expectedHashes.computeIfAbsent(
                tokens,
                ignored -> IntStream.range(0, tape.forwards())
                        .mapToObj(i -> fixture.expectedHash(tape, i))
                        .toList());
        RouteReplay routes = forward.run(forwards);
        for (int i = 0; i < forwards; i++) {
            require(routes.hash(i) == expected.get(i % tape.forwards()), tokens + " tokens, forward " + i);
        }
    }

    private static String refusal(Runnable call) {
        try {
            call.run();
        } catch (CudaException failure) {
            throw failure;
        } catch (IllegalArgumentException refused) {
            return refused.getMessage();
        }
        throw new AssertionError("nothing was refused");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + ": not as expected");
        }
    }
}
