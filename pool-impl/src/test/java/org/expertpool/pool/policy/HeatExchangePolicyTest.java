package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A few forwards of one layer by hand: rows hold experts 0, 1, 2 of six; decay 1/2, every second forward, factor 1.5. */
class HeatExchangePolicyTest {
    private final PolicyTrace trace = new PolicyTrace(1, 6, 2, List.of());
    private final StepTally tally = new StepTally();

    private PlacementPolicy policy(String name) {
        return Policies.named(name).create(trace.setup(3, Scope.LAYER, Initial.FIRST_N));
    }

    private List<Integer> step(PlacementPolicy policy, int... experts) {
        policy.step(PolicyTrace.event(0, experts), tally);
        policy.check();
        return IntStream.range(0, 6)
                .filter(expert -> policy.isResident(0, expert))
                .boxed()
                .toList();
    }

    @Test
    void exchangesHotterKeysEverySecondForwardWithinTheBudget() {
        PlacementPolicy policy = policy("heat.exchange(0.5,2,1.5,1)");
        assertThat(step(policy, 3, 4)).containsExactly(0, 1, 2);
        // Heats 3: 1.5, 4: 0.5, 0: 1 against 1 and 2 at 0: two pairs, one exchange a forward, the hottest first.
        assertThat(step(policy, 3, 0)).containsExactly(0, 2, 3);
        assertThat(tally.exchanged).isEqualTo(1);
        assertThat(tally.hits).isEqualTo(1);
        assertThat(tally.staged).isEqualTo(3);
        // The second pair, 4 for expert 2, goes next, though forward 3 plans nothing.
        assertThat(step(policy, 0, 3)).containsExactly(0, 3, 4);
        assertThat(tally.promoted).isZero();
    }

    @Test
    void anIncumbentMustBeBeatenByTheFactor() {
        PlacementPolicy policy = policy("heat.exchange(1,2,1.5,8)");
        step(policy, 0, 1);
        step(policy, 2, 5); // 5 has heat 1 as all residents
        assertThat(step(policy, 5, 0)).containsExactly(0, 1, 2);
        // 5 is at 3 of 0: 2, 1: 2, 2: 1.
        assertThat(step(policy, 5, 1)).containsExactly(0, 1, 5);
        assertThat(tally.exchanged).isEqualTo(1);
    }

    @Test
    void aResidentInUseWaits() {
        PlacementPolicy policy = policy("heat.exchange(0.5,2,1.5,1)");
        step(policy, 3, 4);
        step(policy, 3, 0);
        // As above, 4 is to come for expert 2, but forward 3 uses that one.
        assertThat(step(policy, 2, 0)).containsExactly(0, 2, 3);
        assertThat(tally.exchanged).isEqualTo(1);
    }
}
