package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.List;
import org.expertpool.pool.plan.PoolControls;

/**
 * The planner's step (pool-semantics 4) with its promotion controls, over any eviction order and promotion rules. Rows
 * without an owner are taken before any victim, lowest first, and count as promotions. Experts of an event are served in
 * the order of its lanes, as the specification says for LRU, or in ascending order, so that the order of lanes has no
 * influence.
 */
final class PlannedPolicy implements PlacementPolicy {
    private final PoolState state;
    private final EvictionOrder order;
    private final PromotionRule[] rules;
    private final PoolControls controls;
    private final boolean inLaneOrder;
    private final long protectedClocks;
    private final int experts;
    private final int[] entries; // [E] the event's entries in the order in which they are served
    private final int[] misses; // [E] those that miss

    PlannedPolicy(
            PoolState state,
            EvictionOrder order,
            List<PromotionRule> rules,
            PoolControls controls,
            boolean inLaneOrder) {
        this.state = state;
        this.order = order;
        this.rules = rules.toArray(new PromotionRule[0]);
        this.controls = controls;
        this.inLaneOrder = inLaneOrder;
        experts = state.config().experts();
        protectedClocks = (long) controls.protectRecent() * state.config().layers();
        entries = new int[experts];
        misses = new int[experts];
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
        state.clock++;
        if (event.layer == 0) {
            state.forwards++;
        }
        sortEntries(event);
        int missed = classify(event);
        tally.hits += event.size - missed;
        if (missed > 0) {
            planMisses(event, missed, tally);
        }
        order.endStep(state.group(event.layer));
    }

    private void sortEntries(RoutingEvent event) {
        for (int i = 0; i < event.size; i++) {
            int at = i;
            while (!inLaneOrder && at > 0 && event.experts[entries[at - 1]] > event.experts[i]) {
                entries[at] = entries[at - 1];
                at--;
            }
            entries[at] = i;
        }
    }

    /** All of the event against the contents at its start; the number of misses. */
    private int classify(RoutingEvent event) {
        int firstKey = event.layer * experts;
        int missed = 0;
        for (int i = 0; i < event.size; i++) {
            int entry = entries[i];
            int key = firstKey + event.experts[entry];
            int row = state.hotRow[key];
            for (PromotionRule rule : rules) {
                rule.selected(key, event.weights[entry]);
            }
            if (row == ABSENT) {
                misses[missed++] = entry;
                order.missed(key, event.weights[entry]);
                continue;
            }
            state.rowUse[row] = state.clock;
            if (!state.isPinned(row)) {
                order.hit(row, key, event.weights[entry]);
            }
        }
        return missed;
    }

    private void planMisses(RoutingEvent event, int missed, StepTally tally) {
        int group = state.group(event.layer);
        boolean mayPromote = (state.forwards - 1) % controls.promoteInterval() == 0;
        int budget = controls.promoteLimit() == 0 ? missed : controls.promoteLimit();
        for (int i = 0; i < missed; i++) {
            int key = event.layer * experts + event.experts[misses[i]];
            boolean controlled = ++state.missCount[key] >= controls.promoteMinMisses() && mayPromote && budget > 0;
            int row = controlled && admits(key, event.weights[misses[i]]) ? rowFor(group, key) : ABSENT;
            if (row == ABSENT) {
                tally.staged++;
                continue;
            }
            budget--;
            tally.promoted++;
            if (state.rowKey[row] != ABSENT) {
                order.evicted(row);
            }
            state.own(key, row);
            state.rowUse[row] = state.clock;
            state.missCount[key] = 0;
            order.promoted(row);
        }
    }

    private boolean admits(int key, float weight) {
        for (PromotionRule rule : rules) {
            if (!rule.admits(key, weight)) {
                return false;
            }
        }
        return true;
    }

    private int rowFor(int group, int key) {
        int empty = state.emptyRow(group);
        if (empty != ABSENT) {
            return empty;
        }
        int row = order.victim(group, key, state.clock - protectedClocks);
        if (row != ABSENT) {
            for (PromotionRule rule : rules) {
                if (!rule.beats(key, state.rowKey[row])) {
                    return ABSENT;
                }
            }
        }
        return row;
    }

    @Override
    public int row(int layer, int expert) {
        return state.hotRow[layer * experts + expert];
    }

    @Override
    public void reset() {
        state.reset();
        order.reset();
        for (PromotionRule rule : rules) {
            rule.reset();
        }
    }

    @Override
    public void check() {
        state.check();
        order.check();
    }
}
