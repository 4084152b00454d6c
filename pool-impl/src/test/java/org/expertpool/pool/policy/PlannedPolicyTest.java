package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The linked-list LRU against the planner's plain scan, and against a scan written here for what that one lacks. */
class PlannedPolicyTest {
    @ParameterizedTest
    @CsvSource({
        "1,   2, 1,   1, 1, 3000",
        "1,   8, 2,   4, 1, 3000",
        "3,  12, 3,   5, 1, 3000",
        "2,  16, 4,   4, 6, 3000",
        "5,  40, 8,  99, 2, 2000",
        "4, 100, 64, 70, 1, 500",
        "6, 128, 10, 64, 6, 1000",
        "48, 512, 10, 258, 1, 2000",
    })
    void equalsTheReferencePlannerAfterEveryStep(
            int layers, int experts, int topK, int rows, int decodeTokens, int steps) {
        for (int seed = 0; seed < 3; seed++) {
            Random random = new Random(seed * 1000L + experts);
            PoolConfig config = new PoolConfig(layers, experts, topK, rows, decodeTokens);
            PoolControls controls = randomControls(random, seed);
            ReferencePlanner planner = new ReferencePlanner(config);
            planner.controls(controls);
            PlannedPolicy policy = lru(config, Scope.GLOBAL, Initial.FIRST_N, controls);
            StepTally tally = new StepTally();
            for (int step = 0; step < steps; step++) {
                RoutingEvent event = randomEvent(random, config, step % layers);
                StepPlan plan = planner.step(event.layer, event.experts, event.weights, event.size);
                tally.clear();
                policy.step(event, tally);
                assertThat(tally.promoted).as("promoted").isEqualTo(plan.promoted());
                assertThat(tally.staged).as("staged").isEqualTo(plan.staged());
                assertThat(tally.selections()).isEqualTo(event.size);
                assertEqualTables(policy.state(), planner);
            }
            policy.check();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GLOBAL, EMPTY, 3, 12, 3,  5",
        "LAYER,  EMPTY, 3, 12, 3,  5",
        "LAYER,  FIRST_N, 3, 12, 3,  3",
        "LAYER,  FIRST_N, 4, 30, 5, 17",
        "GLOBAL, FIRST_N, 4, 30, 5, 17",
        "LAYER,  EMPTY, 2, 20, 8, 19",
    })
    void equalsAPlainScanInEveryScopeFromEveryStart(
            Scope scope, Initial initial, int layers, int experts, int topK, int rows) {
        for (int seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            PoolConfig config = new PoolConfig(layers, experts, topK, rows, 2);
            PoolControls controls = randomControls(random, seed);
            PlannedPolicy policy = lru(config, scope, initial, controls);
            PlainScan scan = new PlainScan(config, scope, initial, controls);
            for (int step = 0; step < 600; step++) {
                if (step == 400) {
                    policy.reset();
                    scan = new PlainScan(config, scope, initial, controls);
                }
                RoutingEvent event = randomEvent(random, config, step % layers);
                StepTally tally = new StepTally();
                policy.step(event, tally);
                assertThat(new long[] {tally.hits, tally.promoted, tally.staged})
                        .isEqualTo(scan.step(event));
                assertThat(policy.state().rowKey).isEqualTo(scan.owner);
                assertThat(policy.state().rowUse).isEqualTo(scan.used);
                policy.check();
            }
        }
    }

    @Test
    void aClosedGateChangesNothing() {
        PoolConfig config = new PoolConfig(2, 6, 2, 3, 1);
        PlannedPolicy policy =
                lru(config, Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS.with(Map.of("gate", 0)));
        PlannedPolicy untouched = lru(config, Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS);
        StepTally tally = new StepTally();
        RoutingEvent event = event(1, 2, 5);
        policy.step(event, tally);
        assertThat(tally.hits).isEqualTo(1);
        assertThat(tally.staged).isEqualTo(1);
        assertThat(policy.state().rowKey).isEqualTo(untouched.state().rowKey);
        assertThat(policy.state().rowUse).isEqualTo(untouched.state().rowUse);
        assertThat(policy.state().missCount).isEqualTo(untouched.state().missCount);
        assertThat(policy.state().clock).isZero();
    }

    private static PlannedPolicy lru(PoolConfig config, Scope scope, Initial initial, PoolControls controls) {
        PolicySetup setup = PolicySetup.of(config, scope, initial, controls);
        return (PlannedPolicy) Policies.named("lru").create(setup);
    }

    /** The first seeds run the defaults, so that plain LRU is among those compared. */
    private static PoolControls randomControls(Random random, int seed) {
        PoolControls open = PoolControls.DEFAULTS.withGate(true);
        return seed == 0
                ? open
                : open.with(Map.of(
                        "promoteLimit",
                        random.nextInt(4),
                        "promoteInterval",
                        1 + random.nextInt(3),
                        "promoteMinMisses",
                        1 + random.nextInt(3),
                        "protectRecent",
                        random.nextInt(4)));
    }

    /** Skewed and with repeats of recent experts now and then, so that hits, ties and crowded steps all occur. */
    private static RoutingEvent randomEvent(Random random, PoolConfig config, int layer) {
        int span = Math.max(config.topK(), random.nextInt(3) == 0 ? config.experts() : config.experts() / 2 + 1);
        int size = 1 + random.nextInt(Math.min(config.stagingRows(), span));
        int[] experts = random.ints(0, Math.min(span, config.experts()))
                .distinct()
                .limit(size)
                .toArray();
        return event(layer, experts);
    }

    private static RoutingEvent event(int layer, int... experts) {
        RoutingEvent event = new RoutingEvent(experts.length);
        event.layer = layer;
        event.size = experts.length;
        System.arraycopy(experts, 0, event.experts, 0, experts.length);
        Arrays.fill(event.weights, 1f);
        return event;
    }

    private static void assertEqualTables(PoolState state, ReferencePlanner planner) {
        PoolConfig config = planner.config();
        assertThat(state.clock).isEqualTo(planner.tables().clock());
        assertThat(state.forwards).isEqualTo(planner.tables().forwards());
        for (int row = 0; row < config.poolRows(); row++) {
            if (state.rowKey[row] != planner.tables().rowKey(row)
                    || state.rowUse[row] != planner.tables().rowUse(row)) {
                throw new AssertionError("row " + row + ": owner " + state.rowKey[row] + " used " + state.rowUse[row]
                        + ", planner " + planner.tables().rowKey(row) + " used "
                        + planner.tables().rowUse(row));
            }
        }
        for (int key = 0; key < config.keys(); key++) {
            if (state.hotRow[key] != planner.tables().hotRow(key)
                    || state.missCount[key] != planner.tables().missCount(key)) {
                throw new AssertionError("key " + key + " differs");
            }
        }
    }

    /** The step of pool-semantics 4 from its text, with rows without owner and per-layer victims; no shared code. */
    private static final class PlainScan {
        private final PoolConfig config;
        private final Scope scope;
        private final PoolControls controls;
        final int[] owner;
        final long[] used;
        private final int[] misses;
        private long clock;
        private int forwards;

        PlainScan(PoolConfig config, Scope scope, Initial initial, PoolControls controls) {
            this.config = config;
            this.scope = scope;
            this.controls = controls;
            int n = Math.min(config.rows(), config.experts() - 1);
            owner = IntStream.range(0, config.layers() * n)
                    .map(row -> initial == Initial.EMPTY ? -1 : row / n * config.experts() + row % n)
                    .toArray();
            used = new long[owner.length];
            misses = new int[config.layers() * config.experts()];
        }

        long[] step(RoutingEvent event) {
            clock++;
            forwards += event.layer == 0 ? 1 : 0;
            int[] keys = Arrays.stream(event.experts, 0, event.size)
                    .map(expert -> event.layer * config.experts() + expert)
                    .toArray();
            int[] missing = Arrays.stream(keys).filter(key -> rowOf(key) < 0).toArray();
            Arrays.stream(keys).map(this::rowOf).filter(row -> row >= 0).forEach(row -> used[row] = clock);
            int promoted = 0;
            for (int key : missing) {
                misses[key]++;
                boolean may = (forwards - 1) % controls.promoteInterval() == 0
                        && (controls.promoteLimit() == 0 || promoted < controls.promoteLimit())
                        && misses[key] >= controls.promoteMinMisses();
                int row = may ? choose(event.layer) : -1;
                if (row >= 0) {
                    owner[row] = key;
                    used[row] = clock;
                    misses[key] = 0;
                    promoted++;
                }
            }
            return new long[] {keys.length - missing.length, promoted, missing.length - promoted};
        }

        private int rowOf(int key) {
            return IntStream.range(0, owner.length)
                    .filter(row -> owner[row] == key)
                    .findFirst()
                    .orElse(-1);
        }

        private int choose(int layer) {
            int n = owner.length / config.layers();
            int from = scope == Scope.LAYER ? layer * n : 0;
            int to = scope == Scope.LAYER ? from + n : owner.length;
            int best = -1;
            for (int row = from; row < to; row++) {
                if (owner[row] < 0) {
                    return row;
                }
                boolean free = used[row] < clock
                        && (controls.protectRecent() == 0
                                || used[row] < clock - (long) controls.protectRecent() * config.layers());
                if (free && (best < 0 || used[row] < used[best])) {
                    best = row;
                }
            }
            return best;
        }
    }
}
