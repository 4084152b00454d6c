package org.expertpool.pool.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;

class StreamPlanTest {
    @Test
    void cutsAHandComputedList() {
        int[] missing = {2, 3, 4, 7, 8, 11, 12, 13, 14, 99};
        List<StreamPlan.Group> groups = StreamPlan.cut(missing, 9, new StreamPlan.Shape(5, 3, 1));
        assertThat(groups)
                .containsExactly(
                        new StreamPlan.Group(0, 3, -1, List.of(new StreamPlan.Run(2, 0, 3))),
                        new StreamPlan.Group(
                                3,
                                6,
                                0,
                                List.of(
                                        new StreamPlan.Run(7, 3, 2),
                                        new StreamPlan.Run(11, 0, 1))), // ring row 0 was group 0's
                        new StreamPlan.Group(6, 8, 0, List.of(new StreamPlan.Run(12, 1, 2))),
                        new StreamPlan.Group(8, 9, 1, List.of(new StreamPlan.Run(14, 3, 1))));
    }

    /** Any subset of experts, any shape: every row is copied once, to its place, and no row is overwritten unread. */
    @Test
    void everyRowCrossesOnceAndIsReadBeforeItIsOverwritten() {
        Random random = new Random(5);
        for (int round = 0; round < 4_000; round++) {
            int experts = 1 + random.nextInt(150);
            double share = random.nextDouble();
            int[] missing = IntStream.range(0, experts)
                    .filter(expert -> random.nextDouble() < share)
                    .toArray();
            int ringRows = 1 + random.nextInt(40);
            int groupRows = 1 + random.nextInt(ringRows);
            StreamPlan.Shape shape = new StreamPlan.Shape(ringRows, groupRows, 1 + random.nextInt(groupRows));
            simulate(missing, shape);
        }
    }

    @Test
    void theLastGroupsAreSmall() {
        List<StreamPlan.Group> groups =
                StreamPlan.cut(IntStream.range(0, 276).toArray(), 276, StreamPlan.Shape.DEFAULT);
        List<Integer> sizes = groups.stream().map(g -> g.to() - g.from()).toList();
        assertThat(sizes).containsExactly(64, 64, 64, 42, 21, 11, 5, 4, 1);
    }

    @Test
    void neighboursShareACopyUpToTheRingsEnd() {
        List<StreamPlan.Group> groups =
                StreamPlan.cut(IntStream.range(10, 26).toArray(), 16, new StreamPlan.Shape(12, 8, 8));
        assertThat(groups).hasSize(2);
        assertThat(groups.get(1).runs()).containsExactly(new StreamPlan.Run(18, 8, 4), new StreamPlan.Run(22, 0, 4));
    }

    @Test
    void refusesShapesThatDoNotFit() {
        assertThatThrownBy(() -> new StreamPlan.Shape(8, 9, 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "stream: lastRows is 1, groupRows 9, ringRows 8; expected 1 <= lastRows <= groupRows <= ringRows");
        assertThatThrownBy(() -> new StreamPlan.Shape(8, 4, 0)).isInstanceOf(BadInputException.class);
        assertThatThrownBy(() -> new StreamPlan.Shape(8, 4, 5)).isInstanceOf(BadInputException.class);
    }

    /** Runs the plan as late as its waits allow copies, and as early: each group must find its own rows in the ring. */
    private static void simulate(int[] missing, StreamPlan.Shape shape) {
        List<StreamPlan.Group> groups = StreamPlan.cut(missing, missing.length, shape);
        String what = Arrays.toString(missing) + " " + shape;
        int[] ring = new int[shape.ringRows()];
        List<Integer> copied = new ArrayList<>();
        int next = 0; // group whose copies come next; as many as may run ahead do
        int place = 0;
        for (int computed = 0; computed < groups.size(); computed++) {
            while (next < groups.size() && groups.get(next).overwrites() < computed) {
                for (StreamPlan.Run run : groups.get(next).runs()) {
                    for (int i = 0; i < run.rows(); i++) {
                        ring[run.ringRow() + i] = run.hostRow() + i;
                        copied.add(run.hostRow() + i);
                    }
                }
                next++;
            }
            assertThat(next).as(what).isGreaterThan(computed);
            StreamPlan.Group group = groups.get(computed);
            assertThat(group.from()).as(what).isEqualTo(place);
            assertThat(group.to() - group.from()).as(what).isBetween(1, shape.groupRows());
            for (; place < group.to(); place++) {
                assertThat(ring[place % shape.ringRows()]).as(what).isEqualTo(missing[place]);
            }
        }
        assertThat(place).as(what).isEqualTo(missing.length);
        assertThat(copied)
                .as(what)
                .containsExactlyElementsOf(Arrays.stream(missing).boxed().toList());
    }
}
