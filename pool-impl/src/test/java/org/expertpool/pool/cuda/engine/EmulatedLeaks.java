package org.expertpool.pool.cuda.engine;

import java.util.List;
import java.util.function.Supplier;
import org.expertpool.pool.cuda.Alive;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.Scope;

/**
 * What the child JVM of {@link DeviceForwardTest} runs where every allocation fails in turn: each time nothing may be left,
 * and what was there before goes on working.
 */
final class EmulatedLeaks {
    private final CudaContext context;

    private EmulatedLeaks(CudaContext context) {
        this.context = context;
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            EmulatedLeaks program = new EmulatedLeaks(context);
            ForwardFixture fixture = program.inTheEnd("model", () -> new ForwardFixture(context));
            DeviceModel model = fixture.model;
            program.inTheEnd("planner", () -> new DevicePlanner(context, fixture.config(3), DevicePlanner.Launch.EAGER))
                    .close();
            program.inTheEnd("uva rows", () -> new SplitEngine(model, 3)).close();
            program.inTheEnd("stream", () -> new StreamEngine(model, 3)).close();
            PolicySetup setup = PolicySetup.of(
                    fixture.config(3), Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
            for (Supplier<LayerEngine> peer : List.<Supplier<LayerEngine>>of(
                    () -> new HostPlannedEngine(model, Policies.named("lfru"), setup),
                    () -> new HeatEngine(model, Policies.named("heat"), setup))) {
                try (LayerEngine engine = program.inTheEnd("placed", peer)) {
                    ForwardSpec spec = ForwardSpec.of(1, ForwardFixture.tape(1), 2, 1, 2, DecodeGraph.NONE);
                    program.inTheEnd(engine.name(), () -> new DeviceForward(model, engine, spec))
                            .close();
                }
            }
            try (LayerEngine uva = program.inTheEnd("uva", () -> FixedEngine.uva(model, 1));
                    DevicePool pool = program.inTheEnd("pool", () -> DevicePool.install(model, fixture.config(3), 2));
                    DeviceForward forward = program.inTheEnd("forward", () -> program.forward(model, pool))) {
                pool.openGate(RowCheck.SAMPLED);
                DeviceForward other = program.inTheEnd("other forward", () -> program.forward(model, uva));
                System.out.println(forward.run(2).hash(1) == other.run(2).hash(1) ? "outputs equal" : "outputs differ");
                other.close();
            }
        }
    }

    private DeviceForward forward(DeviceModel model, LayerEngine engine) {
        RoutingTape tape = ForwardFixture.tape(1);
        ForwardSpec spec = ForwardSpec.of(1, tape, 2, 1, 2, DecodeGraph.FULL_DECODE);
        return new DeviceForward(model, engine, spec.withRest(new LayerRest(256, 32, 8, true)));
    }

    private <T> T inTheEnd(String what, Supplier<T> make) {
        int before = Alive.in(context);
        context.freeBytes(); // from here on to the next time, the driver fails
        for (int failures = 0; ; failures++) {
            try {
                T made = make.get();
                context.freeBytes();
                System.out.println(what + ": " + (failures > 1 ? "nothing left" : failures + " failures"));
                return made;
            } catch (CudaException failure) {
                if (!failure.isOutOfMemory() || Alive.in(context) != before) {
                    throw new AssertionError(
                            what + ", failure " + failures + ": " + Alive.in(context) + " alive, " + before + " before",
                            failure);
                }
            }
        }
    }
}
