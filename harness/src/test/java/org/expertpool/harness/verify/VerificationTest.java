package org.expertpool.harness.verify;

import static org.assertj.core.api.Assertions.assertThat;

import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.junit.jupiter.api.Test;

class VerificationTest {
    private static final PoolConfig CONFIG = new PoolConfig(3, 8, 2, 3, 4);

    @Test
    void theReferenceEqualsThePlainTelling() {
        Verification.Outcome outcome = Verification.referenceAgainstPlain(CONFIG, 2000, 7);
        assertThat(outcome.difference()).isEmpty();
        assertThat(outcome.steps()).isEqualTo(2000);
        assertThat(outcome.promoted()).isPositive();
        assertThat(outcome.staged()).isPositive();
    }

    @Test
    void anEqualPlannerPasses() {
        assertThat(Verification.againstReference(new ReferencePlanner(CONFIG), 500, 7)
                        .difference())
                .isEmpty();
    }

    @Test
    void aPlannerThatForgetsAControlIsFound() {
        Verification.Outcome outcome = Verification.againstReference(new Forgetful(), 2000, 7);
        assertThat(outcome.difference())
                .hasValueSatisfying(
                        difference -> assertThat(difference).startsWith("step " + (outcome.steps() - 1) + ", layer "));
    }

    /** Takes every control for set, and never protects recent rows. */
    private static final class Forgetful implements Planner {
        private final ReferencePlanner planner = new ReferencePlanner(CONFIG);
        private PoolControls claimed = PoolControls.DEFAULTS;

        @Override
        public PoolConfig config() {
            return CONFIG;
        }

        @Override
        public PoolTables tables() {
            return planner.tables();
        }

        @Override
        public PoolControls controls() {
            return claimed;
        }

        @Override
        public void controls(PoolControls next) {
            claimed = next;
            planner.controls(new PoolControls(
                    next.gate(), next.promoteLimit(), next.promoteInterval(), next.promoteMinMisses(), 0));
        }

        @Override
        public void clearError() {
            planner.clearError();
        }

        @Override
        public StepPlan step(int layer, int[] ids, float[] weights, int lanes) {
            return planner.step(layer, ids, weights, lanes);
        }

        @Override
        public int swap(int layer, int resident, int other) {
            return planner.swap(layer, resident, other);
        }
    }
}
