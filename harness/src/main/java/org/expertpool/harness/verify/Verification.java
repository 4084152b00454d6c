package org.expertpool.harness.verify;

import java.util.Optional;
import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.plan.TableCheck;

/** Compares planners step by step over a seeded stream; each comparison ends at the first difference. */
public final class Verification {
    /** Steps run, and what differed at the last of them; empty where nothing did. */
    public record Outcome(long steps, long promoted, long staged, Optional<String> difference) {
        /** {@code equal}, or what differs. */
        public String verdict() {
            return difference.map("differs: "::concat).orElse("equal");
        }
    }

    private Verification() {}

    /** The reference beside a plain telling of the semantics, with its tables checked after every step. */
    public static Outcome referenceAgainstPlain(PoolConfig config, long steps, long seed) {
        ReferencePlanner reference = new ReferencePlanner(config);
        PlainPool plain = new PlainPool(config);
        return run(reference, steps, seed, (stream, plan) -> {
            plain.step(reference.controls(), stream.layer, stream.ids, stream.weights, stream.lanes);
            return differs(plan, plain, stream).or(() -> TableCheck.firstViolation(reference.tables()));
        });
    }

    /** Another planner beside the reference: every output, and every table with clock, forwards and error. */
    public static Outcome againstReference(Planner subject, long steps, long seed) {
        ReferencePlanner reference = new ReferencePlanner(subject.config());
        return run(subject, steps, seed, (stream, plan) -> {
            reference.controls(subject.controls());
            if (stream.cleared) {
                reference.clearError();
            }
            StepPlan expected = reference.step(stream.layer, stream.ids, stream.weights, stream.lanes);
            return PlanDifference.of(expected, plan).or(() -> reference.tables().firstDifference(subject.tables()));
        });
    }

    private interface Check {
        Optional<String> difference(StepStream stream, StepPlan plan);
    }

    private static Outcome run(Planner planner, long steps, long seed, Check check) {
        StepStream stream = new StepStream(planner.config(), seed);
        planner.controls(PoolControls.DEFAULTS.withGate(true));
        long promoted = 0;
        long staged = 0;
        for (long step = 0; step < steps; step++) {
            if (stream.oneIn(25)) {
                planner.controls(stream.controls());
            }
            stream.cleared = stream.oneIn(40);
            if (stream.cleared) {
                planner.clearError();
            }
            stream.next();
            StepPlan plan = planner.step(stream.layer, stream.ids, stream.weights, stream.lanes);
            promoted += plan.promoted();
            staged += plan.staged();
            Optional<String> difference = check.difference(stream, plan);
            if (difference.isPresent()) {
                String where = "step " + step + ", layer " + stream.layer + ": ";
                return new Outcome(step + 1, promoted, staged, difference.map(where::concat));
            }
        }
        return new Outcome(steps, promoted, staged, Optional.empty());
    }

    private static Optional<String> differs(StepPlan plan, PlainPool plain, StepStream stream) {
        if (plan.promoted() != plain.promotions.size() || plan.staged() != plain.staged.size()) {
            return Optional.of("promoted " + plan.promoted() + " and staged " + plan.staged() + ", expected "
                    + plain.promotions.size() + " and " + plain.staged.size());
        }
        for (int copy = 0; copy < plan.copies(); copy++) {
            PlainPool.Copy expected =
                    copy < plan.promoted() ? plain.promotions.get(copy) : plain.staged.get(copy - plan.promoted());
            if (plan.copyExpert(copy) != expected.expert() || plan.copyRow(copy) != expected.row()) {
                return Optional.of("copy " + copy + " differs");
            }
        }
        for (int lane = 0; lane < stream.lanes; lane++) {
            int expert = plan.safeIds()[lane];
            int expected = expert < 0 ? -1 : plain.route(stream.layer, expert);
            if (plan.routes()[lane] != expected) {
                return Optional.of("route of lane " + lane + " is " + plan.routes()[lane] + ", expected " + expected);
            }
        }
        return Optional.empty();
    }
}
