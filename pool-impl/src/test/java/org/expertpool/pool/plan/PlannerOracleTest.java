package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.BruteForcePool.Copy;
import org.expertpool.pool.plan.BruteForcePool.Expert;
import org.expertpool.pool.plan.BruteForcePool.Outcome;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reference planner against a brute force written apart from it: every table and output after every step. */
class PlannerOracleTest {
    @ParameterizedTest(name = "L={0} E={1} k={2} N={3} T={4}, {5} steps")
    @CsvSource({
        "1, 2, 1, 1, 1, 4000",
        "1, 1, 1, 5, 1, 300", // n = 0: nothing is ever resident
        "2, 4, 2, 2, 1, 6000",
        "3, 8, 2, 3, 4, 6000",
        "4, 16, 4, 4, 2, 4000",
        "4, 16, 4, 15, 16, 4000", // S = E = 16
        "2, 16, 4, 100, 99, 4000", // n = E - 1, S = 64 lanes over 16 experts
        "7, 32, 8, 9, 8, 2500",
        "2, 100, 65, 70, 3, 1500", // topK above 64: still one token
        "48, 512, 10, 258, 1, 1500",
        "48, 512, 10, 258, 6, 500",
    })
    void equalsTheBruteForce(int layers, int experts, int topK, int rows, int maxDecodeTokens, int steps) {
        PoolConfig config = new PoolConfig(layers, experts, topK, rows, maxDecodeTokens);
        ReferencePlanner planner = new ReferencePlanner(config);
        BruteForcePool oracle = new BruteForcePool(layers, experts, Math.min(rows, experts - 1));
        RoutingStream stream = new RoutingStream(config, 7919L * layers + 31L * rows + maxDecodeTokens);
        assertTables(planner.tables(), oracle, "at the start");
        for (int step = 0; step < steps; step++) {
            Map<String, Integer> changes = stream.controls();
            planner.control(changes);
            oracle.controls.putAll(changes);
            if (stream.clearsError()) {
                planner.clearError();
                oracle.error = false;
            }
            int lanes = stream.next(planner.tables());
            int layer = stream.layer();
            StepPlan plan = planner.step(layer, stream.ids(), stream.weights(), lanes);
            Outcome expected = oracle.step(layer, stream.ids(), stream.weights(), lanes);
            String where = "after step " + step + " of layer " + layer + " with " + oracle.controls;
            assertPlan(plan, expected, experts, where);
            assertTables(planner.tables(), oracle, where);
            assertThat(TableCheck.firstViolation(planner.tables())).as(where).isEmpty();
        }
        assertThat(stream.exercised()).containsAll(RoutingStream.Kind.applicable(config));
    }

    private static void assertPlan(StepPlan plan, Outcome expected, int experts, String where) {
        List<Copy> copies = new ArrayList<>(expected.promotions());
        copies.addAll(expected.staged());
        assertThat(IntStream.range(0, plan.copies())
                        .mapToObj(i -> new Copy(plan.copyExpert(i), plan.copyRow(i)))
                        .toList())
                .as("copies " + where)
                .isEqualTo(copies);
        assertThat(plan.promoted())
                .as("promoted " + where)
                .isEqualTo(expected.promotions().size());
        assertThat(plan.staged())
                .as("staged " + where)
                .isEqualTo(expected.staged().size());
        assertThat(firstOf(plan.routes(), plan.lanes())).as("routes " + where).isEqualTo(expected.routes());
        assertThat(firstOf(plan.safeIds(), plan.lanes())).as("safeIds " + where).isEqualTo(expected.safeIds());
        long distinct =
                expected.safeIds().stream().filter(id -> id >= 0).distinct().count();
        assertThat(plan.selected()).as("selected " + where).isEqualTo((int) distinct);
        int[] stepMap = IntStream.range(0, experts)
                .map(expert -> expected.rowByExpert().getOrDefault(expert, -1))
                .toArray();
        assertThat(Arrays.equals(plan.stepMap(), stepMap))
                .as("stepMap " + where)
                .isTrue();
    }

    private static void assertTables(PoolTables tables, BruteForcePool oracle, String where) {
        PoolConfig config = tables.config();
        for (int layer = 0; layer < config.layers(); layer++) {
            for (int id = 0; id < config.experts(); id++) {
                Expert expert = new Expert(layer, id);
                int key = layer * config.experts() + id;
                Integer row = oracle.rowOf.get(expert);
                equal(tables.hotRow(key), row == null ? -1 : row, "hotRow", key, where);
                equal(tables.coldRow(key), row == null ? id : -1, "coldRow", key, where);
                equal(tables.missCount(key), oracle.misses.getOrDefault(expert, 0), "missCount", key, where);
            }
        }
        for (int row = 0; row < config.bankRows(); row++) {
            Expert owner = oracle.ownerOf.get(row);
            equal(
                    tables.rowKey(row),
                    owner == null ? -1 : owner.layer() * config.experts() + owner.id(),
                    "rowKey",
                    row,
                    where);
            equal(tables.rowUse(row), oracle.lastUse.getOrDefault(row, Long.MAX_VALUE), "rowUse", row, where);
        }
        equal(tables.clock(), oracle.clock, "clock", 0, where);
        equal(tables.forwards(), oracle.forwards, "forwards", 0, where);
        equal(tables.error(), oracle.error ? 1 : 0, "error", 0, where);
    }

    private static void equal(long actual, long expected, String table, int index, String where) {
        if (actual != expected) {
            throw new AssertionError(table + "[" + index + "] is " + actual + ", expected " + expected + " " + where);
        }
    }

    private static List<Integer> firstOf(int[] values, int count) {
        return Arrays.stream(values, 0, count).boxed().collect(Collectors.toList());
    }
}
