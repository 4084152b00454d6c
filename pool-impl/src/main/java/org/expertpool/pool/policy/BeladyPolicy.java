package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Belady's clairvoyant bound: the resident expert whose next use lies farthest ahead makes room. Knows the future through
 * {@link RoutingEvent#nextUse}; takes no notice of promotion controls. Keeps no counts.
 *
 * <p>With bypass a miss is admitted only if it is needed before the expert that would go, and that may be one that this
 * very event used: once served it is free to go. This keeps the soonest-needed experts of contents and event together,
 * which no schedule beats. (If experts of the event had to stay, the greedy choice would no longer be the optimum.)
 * Forced, every miss is admitted while a row is left that the event does not use: the optimum of demand paging.
 */
final class BeladyPolicy implements PlacementPolicy {
    private final PoolState state;
    private final IntUnaryOperator firstUse;
    private final boolean forced;
    private final int experts;
    private final List<RowHeap> heaps = new ArrayList<>(); // one per group
    private final int[] misses; // [E] entries of the event that miss, soonest next use first
    private final int[] held; // [E] forced only: rows of the event, kept out of the heap while it is served
    private final int[] heldNextUse; // [E]

    BeladyPolicy(PolicySetup setup, boolean forced) {
        state = new PoolState(setup);
        firstUse = setup.firstUse().orElseThrow();
        this.forced = forced;
        experts = state.config().experts();
        misses = new int[experts];
        held = new int[experts];
        heldNextUse = new int[experts];
        for (int group = 0; group < state.groups; group++) {
            heaps.add(new RowHeap(state.firstRow(group), state.endRow(group) - state.firstRow(group)));
        }
        reset();
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        RowHeap heap = heaps.get(state.group(event.layer));
        int heldRows = 0;
        int missed = 0;
        for (int i = 0; i < event.size; i++) {
            int row = state.hotRow[event.layer * experts + event.experts[i]];
            if (row == ABSENT) {
                missed = insertByNextUse(event, i, missed);
            } else if (forced) {
                heap.remove(row);
                held[heldRows] = row;
                heldNextUse[heldRows++] = event.nextUse[i];
            } else {
                heap.put(row, event.nextUse[i]);
            }
        }
        tally.hits += event.size - missed;
        for (int i = 0; i < missed; i++) {
            int nextUse = event.nextUse[misses[i]];
            int row = rowFor(state.group(event.layer), heap, nextUse);
            if (row == ABSENT) {
                tally.staged++;
                continue;
            }
            tally.promoted++;
            state.own(event.layer * experts + event.experts[misses[i]], row);
            if (forced) {
                held[heldRows] = row;
                heldNextUse[heldRows++] = nextUse;
            } else {
                heap.put(row, nextUse);
            }
        }
        for (int i = 0; i < heldRows; i++) {
            heap.put(held[i], heldNextUse[i]);
        }
    }

    /** A row without owner, or the top of the heap, taken out; ABSENT if the miss is to be staged. */
    private int rowFor(int group, RowHeap heap, int nextUse) {
        int empty = state.emptyRow(group);
        if (empty != ABSENT) {
            return empty;
        }
        if (heap.isEmpty() || (!forced && nextUse >= heap.topNextUse())) {
            return ABSENT;
        }
        int row = heap.top();
        heap.remove(row);
        return row;
    }

    /** Keeps the misses ordered by (next use, expert), so that the lanes' order has no influence. */
    private int insertByNextUse(RoutingEvent event, int entry, int missed) {
        int at = missed;
        while (at > 0 && isLater(event, misses[at - 1], entry)) {
            misses[at] = misses[at - 1];
            at--;
        }
        misses[at] = entry;
        return missed + 1;
    }

    private static boolean isLater(RoutingEvent event, int entry, int other) {
        return event.nextUse[entry] > event.nextUse[other]
                || (event.nextUse[entry] == event.nextUse[other] && event.experts[entry] > event.experts[other]);
    }

    @Override
    public int row(int layer, int expert) {
        return state.hotRow[layer * experts + expert];
    }

    @Override
    public void reset() {
        state.reset();
        heaps.forEach(RowHeap::clear);
        for (int row = 0; row < state.rowKey.length; row++) {
            if (state.rowKey[row] != ABSENT) {
                heaps.get(state.groupOf(row)).put(row, firstUse.applyAsInt(state.rowKey[row]));
            }
        }
    }

    @Override
    public void check() {
        state.check();
        int ordered = heaps.stream().mapToInt(RowHeap::size).sum();
        long owned = Arrays.stream(state.rowKey).filter(key -> key != ABSENT).count();
        if (ordered != owned) {
            throw new IllegalStateException(ordered + " rows ordered by next use, " + owned + " owned");
        }
    }
}
