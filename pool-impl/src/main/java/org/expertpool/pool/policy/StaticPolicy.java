package org.expertpool.pool.policy;

import java.util.Comparator;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.PoolConfig;

/**
 * A placement frozen from selection counts: the most selected experts are resident from the first event on, and every
 * miss is staged. With global scope the {@code L*n} most selected of all layers, with layer scope {@code n} of each
 * layer; among equal counts the lower key.
 */
final class StaticPolicy implements PlacementPolicy {
    private final int experts;
    private final boolean[] resident; // [L*E]
    private final int capacityRows;

    StaticPolicy(PolicySetup setup) {
        PoolConfig pool = setup.pool();
        long[] counts = setup.profile().orElseThrow();
        experts = pool.experts();
        capacityRows = pool.poolRows();
        resident = new boolean[pool.keys()];
        if (setup.scope() == Scope.GLOBAL) {
            choose(counts, 0, pool.keys(), capacityRows);
        } else {
            for (int layer = 0; layer < pool.layers(); layer++) {
                choose(counts, pool.key(layer, 0), pool.key(layer, 0) + experts, pool.residentPerLayer());
            }
        }
    }

    private void choose(long[] counts, int firstKey, int endKey, int rows) {
        IntStream.range(firstKey, endKey)
                .boxed()
                .sorted(Comparator.comparingLong((Integer key) -> counts[key])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(rows)
                .forEach(key -> resident[key] = true);
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        for (int i = 0; i < event.size; i++) {
            if (isResident(event.layer, event.experts[i])) {
                tally.hits++;
            } else {
                tally.staged++;
            }
        }
    }

    @Override
    public boolean isResident(int layer, int expert) {
        return resident[layer * experts + expert];
    }

    /** Nothing to do: the placement never changes. */
    @Override
    public void reset() {}

    @Override
    public void check() {
        long chosen =
                IntStream.range(0, resident.length).filter(key -> resident[key]).count();
        if (chosen != capacityRows) {
            throw new IllegalStateException(chosen + " experts resident, expected " + capacityRows);
        }
    }
}
