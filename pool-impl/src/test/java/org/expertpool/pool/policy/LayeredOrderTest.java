package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The orders that know of layers, in one bank, against their keys computed from the whole history. */
class LayeredOrderTest {
    private record Use(int forward, long clock) {}

    @ParameterizedTest
    @ValueSource(strings = {"evict.layered-lru", "evict.least-stale"})
    void equalsTheRuleOnTheWholeHistory(String name) {
        for (int seed = 0; seed < 20; seed++) {
            int layers = 2 + seed % 4;
            int experts = 8;
            int rows = 3 + seed % 4;
            PolicyTrace trace = PolicyTrace.random(seed, layers, experts, 3, 60, seed % 2 == 0);
            PlacementPolicy policy = Policies.named(name).create(trace.setup(rows, Scope.GLOBAL, Initial.FIRST_N));
            List<Integer> owners = new ArrayList<>(IntStream.range(0, rows * layers)
                    .map(row -> row / rows * experts + row % rows)
                    .boxed()
                    .toList());
            Map<Integer, Use> uses = new HashMap<>(); // latest, by row
            long clock = 0;
            for (RoutingEvent event : trace.events()) {
                clock++;
                Use now = new Use((int) ((clock - 1) / layers) + 1, clock);
                List<Integer> keys = IntStream.range(0, event.size)
                        .map(i -> event.layer * experts + event.experts[i])
                        .sorted()
                        .boxed()
                        .toList();
                List<Integer> missing =
                        keys.stream().filter(key -> !owners.contains(key)).toList();
                keys.stream().filter(owners::contains).forEach(key -> uses.put(owners.indexOf(key), now));
                for (int key : missing) {
                    Comparator<Integer> stale =
                            Comparator.comparing(row -> uses.getOrDefault(row, new Use(0, 0)).forward == now.forward);
                    Comparator<Integer> oldestForward =
                            Comparator.comparing(row -> uses.getOrDefault(row, new Use(0, 0)).forward);
                    Comparator<Integer> latestReached = Comparator.comparing(row -> {
                        int layer = owners.get(row) / experts;
                        return layer > event.layer ? event.layer - layer : event.layer - layer - layers;
                    });
                    Comparator<Integer> lastUse =
                            Comparator.comparing(row -> uses.getOrDefault(row, new Use(0, 0)).clock);
                    Comparator<Integer> rule = name.equals("evict.least-stale")
                            ? stale.thenComparing(latestReached).thenComparing(lastUse)
                            : oldestForward.thenComparing(latestReached);
                    int row = IntStream.range(0, owners.size())
                            .boxed()
                            .filter(candidate -> !keys.contains(owners.get(candidate)))
                            .min(rule.thenComparing(candidate -> candidate))
                            .orElseThrow();
                    owners.set(row, key);
                    uses.put(row, now);
                }
                StepTally tally = new StepTally();
                policy.step(event, tally);
                assertThat(tally.misses()).isEqualTo(missing.size());
                for (int key = 0; key < layers * experts; key++) {
                    assertThat(policy.isResident(key / experts, key % experts)).isEqualTo(owners.contains(key));
                }
            }
        }
    }
}
