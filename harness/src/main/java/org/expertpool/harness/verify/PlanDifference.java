package org.expertpool.harness.verify;

import java.util.Arrays;
import java.util.Optional;
import org.expertpool.pool.plan.StepPlan;

/** The first thing in which two planners' outputs differ, in words. */
final class PlanDifference {
    private PlanDifference() {}

    static Optional<String> of(StepPlan expected, StepPlan actual) {
        if (expected.promoted() != actual.promoted() || expected.staged() != actual.staged()) {
            return Optional.of("promoted " + actual.promoted() + " and staged " + actual.staged() + ", expected "
                    + expected.promoted() + " and " + expected.staged());
        }
        for (int copy = 0; copy < expected.copies(); copy++) {
            if (expected.copyExpert(copy) != actual.copyExpert(copy)
                    || expected.copyRow(copy) != actual.copyRow(copy)) {
                return Optional.of("copy " + copy + " differs");
            }
        }
        int lanes = expected.lanes();
        if (!Arrays.equals(expected.safeIds(), 0, lanes, actual.safeIds(), 0, lanes)) {
            return Optional.of("safeIds differ");
        }
        if (!Arrays.equals(expected.routes(), 0, lanes, actual.routes(), 0, lanes)) {
            return Optional.of("routes differ");
        }
        return Arrays.equals(expected.stepMap(), actual.stepMap()) ? Optional.empty() : Optional.of("stepMap differs");
    }
}
