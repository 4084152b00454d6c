package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Seven steps worked out on paper. L=2, E=4, topK=2, N=2: rows 0,1 hold experts 0,1 of layer 0, rows 2,3 those of
 * layer 1, rows 4,5 are staging. Key = 4 * layer + expert.
 */
class HandComputedTraceTest {
    private static final float[] WEIGHTS = {0.5f, 0.5f};
    private static final long STAGING = Long.MAX_VALUE;

    private final ReferencePlanner planner = new ReferencePlanner(new PoolConfig(2, 4, 2, 2, 1));

    @Test
    void followsThePaper() {
        // Gate closed: expert 2 is staged, nothing else moves.
        expect(step(0, 2, 0), "2->4", 0, 1, rows(0, 1, 4, -1), rows(4, 0));
        assertThat(planner.tables().clock()).isZero();
        assertThat(planner.tables().missCount(2)).isZero();

        planner.control(Map.of("gate", 1));
        // clock 1, forward 1: row 0 is stamped, so row 1 (use 0) is the oldest.
        expect(step(0, 2, 0), "2->1", 1, 0, rows(0, -1, 1, -1), rows(1, 0));
        // clock 2: rows 2 and 3 tie at use 0, the lower one goes; the second lane repeats the expert.
        expect(step(1, 3, 3), "3->2", 1, 0, rows(-1, 3, -1, 2), rows(2, 2));
        // clock 3, forward 2: uses are 1,1,2,0: layer 0 takes row 3 from layer 1, then row 0 by the tie.
        expect(step(0, 1, 3), "1->3 3->0", 2, 0, rows(-1, 3, 1, 0), rows(3, 0));
        // clock 4: padding and an invalid id; the error sticks, nothing is planned.
        expect(step(1, -1, 9), "", 0, 0, rows(-1, -1, -1, 2), rows(-1, -1));
        assertThat(planner.tables().error()).isEqualTo(1);

        planner.control(Map.of("promoteLimit", 1));
        // clock 5, forward 3: row 1 is stamped by the later lane first, then expert 0 takes row 2 (use 2) of layer 1.
        expect(step(0, 0, 2), "0->2", 1, 0, rows(2, 3, 1, 0), rows(2, 1));
        // clock 6: uses are 3,5,5,3: expert 0 takes row 0; the limit stages expert 1.
        expect(step(1, 0, 1), "0->0 1->4", 1, 1, rows(0, 4, -1, -1), rows(0, 4));

        PoolTables tables = planner.tables();
        assertThat(tables.hotRow).containsExactly(2, 3, 1, -1, 0, -1, -1, -1);
        assertThat(tables.coldRow).containsExactly(-1, -1, -1, 3, -1, 1, 2, 3);
        assertThat(tables.rowKey).containsExactly(4, 2, 0, 1, -1, -1);
        assertThat(tables.rowUse).containsExactly(6, 5, 5, 3, STAGING, STAGING);
        assertThat(tables.missCount).containsExactly(0, 0, 0, 0, 0, 1, 0, 0);
        assertThat(tables.clock()).isEqualTo(6);
        assertThat(tables.forwards()).isEqualTo(3);
        assertThat(tables.error()).isEqualTo(1);
    }

    private StepPlan step(int layer, int... ids) {
        return planner.step(layer, ids, WEIGHTS, ids.length);
    }

    private static int[] rows(int... rows) {
        return rows;
    }

    private static void expect(StepPlan plan, String copies, int promoted, int staged, int[] stepMap, int[] routes) {
        StringBuilder actual = new StringBuilder();
        for (int i = 0; i < plan.copies(); i++) {
            actual.append(i == 0 ? "" : " ")
                    .append(plan.copyExpert(i))
                    .append("->")
                    .append(plan.copyRow(i));
        }
        assertThat(actual).hasToString(copies);
        assertThat(plan.promoted()).isEqualTo(promoted);
        assertThat(plan.staged()).isEqualTo(staged);
        assertThat(plan.stepMap()).containsExactly(stepMap);
        assertThat(plan.routes()).containsExactly(routes);
    }
}
