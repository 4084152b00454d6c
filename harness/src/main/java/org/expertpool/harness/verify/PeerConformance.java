package org.expertpool.harness.verify;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.HeatEngine;
import org.expertpool.pool.cuda.engine.HostPlannedEngine;
import org.expertpool.pool.cuda.engine.HostPlans;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.cuda.engine.StreamEngine;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.Scope;
import org.expertpool.pool.policy.StepTally;

/**
 * The engines that a pool is compared with, beside all experts resident: planned on the host, exchanged by heat, whole
 * layers streamed. Rows moved must be those of the policy, replayed over the tape alone.
 */
final class PeerConformance {
    private static final String QUICK_HEAT = "heat.exchange(0.99,5,1.1,8)";
    private static final List<DecodeGraph> MODES = List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE);
    private static final int STREAMED_FORWARDS = 3; // each brings every expert over the link
    private static final RowCheck SAMPLE = new RowCheck(16, 3);

    private final EngineShape shape;
    private final DeviceModel model;
    private final Forwards.Report report;
    private final Forwards forwards;

    PeerConformance(EngineShape shape, DeviceModel model, Forwards.Report report) {
        this.shape = shape;
        this.model = model;
        this.report = report;
        forwards = new Forwards(model);
    }

    void run(LayerEngine resident) {
        List<Integer> planned = shape.planned();
        for (int tokens : List.of(planned.get(0), planned.get(planned.size() - 1))) {
            RoutingTape tape = shape.tape(tokens, shape.forwards(), tokens);
            List<Long> expected = forwards.hashes(resident, tape, DecodeGraph.NONE);
            for (int rows : shape.rows()) {
                for (Scope scope : List.of(Scope.LAYER, Scope.GLOBAL)) {
                    placed("host-planned", "evict.lfru", rows, scope, tape, DecodeGraph.NONE, expected);
                }
                for (DecodeGraph mode : MODES) {
                    placed("heat", QUICK_HEAT, rows, Scope.GLOBAL, tape, mode, expected);
                }
            }
        }
        int wide = shape.wide().stream()
                .filter(tokens ->
                        tokens > shape.pool(shape.rows().get(0)).width().decodeTokens())
                .findFirst()
                .orElse(shape.wide().get(shape.wide().size() - 1));
        for (int tokens : List.of(planned.get(0), wide)) {
            RoutingTape tape = shape.tape(tokens, STREAMED_FORWARDS, tokens);
            List<Long> expected = forwards.hashes(resident, tape, DecodeGraph.NONE);
            for (DecodeGraph mode : MODES) {
                for (int residents : new int[] {0, shape.experts() / 2}) {
                    String name = "stream, " + residents + " rows a layer resident" + suffix(tokens, mode);
                    report.compare(name, () -> streamed(residents, tape, mode, expected));
                }
            }
            if (tokens == wide) {
                int rows = shape.rows().get(0);
                placed("host-planned", "evict.lfru", rows, Scope.GLOBAL, tape, DecodeGraph.NONE, expected);
                placed("heat", QUICK_HEAT, rows, Scope.GLOBAL, tape, DecodeGraph.FULL_DECODE, expected);
            }
        }
    }

    private static String suffix(int tokens, DecodeGraph mode) {
        return ", " + tokens + " tokens, " + mode.name().toLowerCase(Locale.ROOT);
    }

    private Verification.Outcome streamed(int residents, RoutingTape tape, DecodeGraph mode, List<Long> expected) {
        try (LayerEngine engine = new StreamEngine(model, residents)) {
            return new Verification.Outcome(
                    tape.forwards(), 0, 0, Forwards.difference(expected, forwards.hashes(engine, tape, mode)));
        }
    }

    private void placed(
            String engine,
            String policy,
            int rows,
            Scope scope,
            RoutingTape tape,
            DecodeGraph mode,
            List<Long> expected) {
        String name = engine + ", " + scope + ", N=" + rows
                + suffix(tape.lanes() / model.shape().topK(), mode);
        report.compare(name, () -> {
            PolicySetup setup =
                    PolicySetup.of(shape.pool(rows), scope, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
            try (LayerEngine subject = engine.equals("heat")
                            ? new HeatEngine(model, Policies.named(policy), setup)
                            : new HostPlannedEngine(model, Policies.named(policy), setup);
                    DeviceForward forward = forwards.prepare(subject, tape, mode)) {
                HostPlans warmedUp = subject.hostPlans();
                if (subject instanceof HostPlannedEngine planned) {
                    planned.openGate();
                }
                Optional<String> difference =
                        Forwards.difference(expected, Forwards.hashes(forward.run(tape.forwards()), tape.forwards()));
                HostPlans moved = subject.hostPlans().minus(warmedUp);
                if (difference.isEmpty()) {
                    difference = moved.equals(replayed(policy, setup, tape))
                            ? brokenRow(subject)
                            : Optional.of(moved + ", expected " + replayed(policy, setup, tape));
                }
                return new Verification.Outcome(tape.forwards(), moved.promoted(), moved.staged(), difference);
            }
        });
    }

    private static Optional<String> brokenRow(LayerEngine engine) {
        try {
            engine.check(SAMPLE);
            return Optional.empty();
        } catch (IllegalStateException failure) {
            return Optional.of(failure.getMessage());
        }
    }

    /** What the policy alone decides; nothing where calls are wider than the planner. */
    private static HostPlans replayed(String policy, PolicySetup setup, RoutingTape tape) {
        if (tape.lanes() > setup.pool().width().lanes()) {
            return HostPlans.NONE;
        }
        PlacementPolicy placement = Policies.named(policy).create(setup);
        StepTally tally = new StepTally();
        RoutingEvent event = new RoutingEvent(setup.pool().experts());
        for (int call = 0; call < tape.forwards() * tape.layers(); call++) {
            int from = call * tape.lanes();
            int[] experts = IntStream.range(from, from + tape.lanes())
                    .map(lane -> tape.ids()[lane])
                    .filter(expert -> expert >= 0)
                    .distinct()
                    .toArray();
            System.arraycopy(experts, 0, event.experts, 0, experts.length);
            event.layer = call % tape.layers();
            event.size = experts.length;
            placement.step(event, tally);
        }
        return new HostPlans(tally.promoted, tally.staged, tally.exchanged);
    }
}
