package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * A placement frozen from selection counts: the most selected experts are resident from the first event on, and every
 * miss is staged. With global scope the {@code L*n} most selected of all layers, else as many of each layer as it has
 * rows; among equal counts the lower key. Keeps no counts of its own.
 */
final class StaticPolicy implements PlacementPolicy {
    private final int experts;
    private final int[] rows; // [L*E] row of the key, or ABSENT
    private final int capacityRows;

    StaticPolicy(PolicySetup setup) {
        experts = setup.pool().experts();
        capacityRows = setup.pool().poolRows();
        rows = new int[setup.pool().keys()];
        Arrays.fill(rows, ABSENT);
        int[] owners = new StartPlacement(setup.withInitial(Initial.PROFILE)).owner;
        for (int row = 0; row < owners.length; row++) {
            rows[owners[row]] = row;
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
    public int row(int layer, int expert) {
        return rows[layer * experts + expert];
    }

    /** Nothing to do: the placement never changes. */
    @Override
    public void reset() {}

    @Override
    public void check() {
        long chosen =
                Arrays.stream(rows).filter(row -> row != ABSENT).distinct().count();
        if (chosen != capacityRows) {
            throw new IllegalStateException(chosen + " experts resident, expected " + capacityRows);
        }
    }
}
