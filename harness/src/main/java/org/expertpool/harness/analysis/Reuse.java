package org.expertpool.harness.analysis;

import java.util.Arrays;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/**
 * Reuse distance of each selection: how many experts of its layer were selected more recently, looked up before any of
 * the event moves (Mattson's stack). A layer with more rows than that, kept by LRU from empty, would have had a hit.
 */
final class Reuse implements StepObserver {
    private final int[][] stacks; // [L][E] most recent first
    private final int[] depths; // [L]
    private final long[] selections; // [E + 1] by distance; the last entry counts first selections

    Reuse(int layers, int experts) {
        stacks = new int[layers][experts];
        depths = new int[layers];
        selections = new long[experts + 1];
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        for (int i = 0; i < event.size; i++) {
            int distance = find(event.layer, event.experts[i]);
            selections[distance == depths[event.layer] ? selections.length - 1 : distance]++;
        }
        for (int i = 0; i < event.size; i++) {
            moveToFront(event.layer, event.experts[i]);
        }
    }

    private int find(int layer, int expert) {
        int distance = 0;
        while (distance < depths[layer] && stacks[layer][distance] != expert) {
            distance++;
        }
        return distance;
    }

    private void moveToFront(int layer, int expert) {
        int distance = find(layer, expert);
        if (distance == depths[layer]) {
            depths[layer]++;
        }
        System.arraycopy(stacks[layer], 0, stacks[layer], 1, distance);
        stacks[layer][0] = expert;
    }

    /** A row per distance that occurred; the last one, without a distance, counts first selections. */
    Table table() {
        Table table = Table.of("reuse_distance", "distance_experts", "selections", "cumulative_ratio");
        long all = Arrays.stream(selections).sum();
        long sum = 0;
        for (int distance = 0; distance < selections.length; distance++) {
            if (selections[distance] > 0) {
                sum += selections[distance];
                Integer known = distance == selections.length - 1 ? null : Integer.valueOf(distance);
                table.add(Arrays.asList(known, selections[distance], (double) sum / all));
            }
        }
        return table;
    }
}
