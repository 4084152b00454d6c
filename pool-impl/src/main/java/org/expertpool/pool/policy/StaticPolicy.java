package org.expertpool.pool.policy;

import java.util.stream.IntStream;

/**
 * A placement frozen from selection counts: the most selected experts are resident from the first event on, and every
 * miss is staged. With global scope the {@code L*n} most selected of all layers, else as many of each layer as it has
 * rows; among equal counts the lower key.
 */
final class StaticPolicy implements PlacementPolicy {
    private final int experts;
    private final boolean[] resident; // [L*E]
    private final int capacityRows;

    StaticPolicy(PolicySetup setup) {
        experts = setup.pool().experts();
        capacityRows = setup.pool().poolRows();
        resident = new boolean[setup.pool().keys()];
        for (int key : new StartPlacement(setup.withInitial(Initial.PROFILE)).owner) {
            resident[key] = true;
        }
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
