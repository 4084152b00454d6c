package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import org.expertpool.pool.plan.PoolControls;

/**
 * The planner's step (pool-semantics 4) with its promotion controls, over any eviction order. Rows without an owner are
 * taken before any victim, lowest first, and count as promotions.
 */
final class PlannedPolicy implements PlacementPolicy {
    private final PoolState state;
    private final EvictionOrder order;
    private final PoolControls controls;
    private final long protectedClocks;
    private final int experts;

    PlannedPolicy(PoolState state, EvictionOrder order, PoolControls controls) {
        this.state = state;
        this.order = order;
        this.controls = controls;
        experts = state.config().experts();
        protectedClocks = (long) controls.protectRecent() * state.config().layers();
    }

    PoolState state() {
        return state;
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        if (controls.gateOpen()) {
            openStep(event, tally);
        } else {
            frozenStep(event, tally);
        }
    }

    private void frozenStep(RoutingEvent event, StepTally tally) {
        for (int i = 0; i < event.size; i++) {
            if (isResident(event.layer, event.experts[i])) {
                tally.hits++;
            } else {
                tally.staged++;
            }
        }
    }

    private void openStep(RoutingEvent event, StepTally tally) {
        int firstKey = event.layer * experts;
        int group = state.group(event.layer);
        long clock = ++state.clock;
        if (event.layer == 0) {
            state.forwards++;
        }
        // All hits are stamped before any miss looks for a victim.
        int hits = 0;
        for (int i = 0; i < event.size; i++) {
            int row = state.hotRow[firstKey + event.experts[i]];
            if (row != ABSENT) {
                hits++;
                state.rowUse[row] = clock;
                order.hit(row);
            }
        }
        tally.hits += hits;
        if (hits < event.size) {
            planMisses(event, firstKey, group, tally);
        }
        order.endStep(group);
    }

    private void planMisses(RoutingEvent event, int firstKey, int group, StepTally tally) {
        boolean mayPromote = (state.forwards - 1) % controls.promoteInterval() == 0;
        int budget = controls.promoteLimit() == 0 ? event.size : controls.promoteLimit();
        for (int i = 0; i < event.size; i++) {
            int key = firstKey + event.experts[i];
            int held = state.hotRow[key];
            if (held != ABSENT) {
                continue; // distinct experts: a row taken in this step is not met again
            }
            boolean admitted = ++state.missCount[key] >= controls.promoteMinMisses() && mayPromote && budget > 0;
            int row = admitted ? rowFor(group) : ABSENT;
            if (row == ABSENT) {
                tally.staged++;
                continue;
            }
            budget--;
            tally.promoted++;
            state.own(key, row);
            state.rowUse[row] = state.clock;
            state.missCount[key] = 0;
            order.promoted(row);
        }
    }

    private int rowFor(int group) {
        int empty = state.emptyRow(group);
        return empty != ABSENT ? empty : order.victim(group, state.clock - protectedClocks);
    }

    @Override
    public boolean isResident(int layer, int expert) {
        return state.hotRow[layer * experts + expert] != ABSENT;
    }

    @Override
    public void reset() {
        state.reset();
        order.reset();
    }

    @Override
    public void check() {
        state.check();
        order.check();
    }
}
