package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RowHeapTest {
    /** Random puts, moves and removals against a map searched from end to end; few distinct values, so that many tie. */
    @Test
    void topIsTheLatestNextUseOfTheLowestRow() {
        Random random = new Random(3);
        for (int rows : new int[] {1, 2, 7, 40}) {
            RowHeap heap = new RowHeap(100, rows);
            Map<Integer, Integer> nextUses = new TreeMap<>();
            for (int i = 0; i < 5000; i++) {
                int row = 100 + random.nextInt(rows);
                if (nextUses.containsKey(row) && random.nextBoolean()) {
                    heap.remove(row);
                    nextUses.remove(row);
                } else {
                    int nextUse = random.nextInt(8) == 0 ? RoutingEvent.NEVER : random.nextInt(12);
                    heap.put(row, nextUse);
                    nextUses.put(row, nextUse);
                }
                assertThat(heap.size()).isEqualTo(nextUses.size());
                assertThat(heap.isEmpty()).isEqualTo(nextUses.isEmpty());
                nextUses.entrySet().stream()
                        .max(Map.Entry.<Integer, Integer>comparingByValue()
                                .thenComparing(Map.Entry.<Integer, Integer>comparingByKey()
                                        .reversed()))
                        .ifPresent(latest -> {
                            assertThat(heap.top()).isEqualTo(latest.getKey());
                            assertThat(heap.topNextUse()).isEqualTo(latest.getValue());
                        });
            }
        }
    }
}
