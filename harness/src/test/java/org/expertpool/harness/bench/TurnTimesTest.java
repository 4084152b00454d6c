package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TurnTimesTest {
    @Test
    void takesTurnsAndLeavesTheFirstRoundOut() {
        List<String> order = new ArrayList<>();
        TurnTimes turns = new TurnTimes();
        for (String name : List.of("b", "a")) {
            turns.add(name, () -> {
                order.add(name);
                return order.size();
            });
        }
        Map<String, double[]> times = turns.run(2);
        assertThat(order).containsExactly("b", "a", "b", "a", "b", "a");
        assertThat(times.keySet()).containsExactly("b", "a");
        assertThat(times.get("b")).containsExactly(3, 5);
        assertThat(times.get("a")).containsExactly(4, 6);
    }
}
