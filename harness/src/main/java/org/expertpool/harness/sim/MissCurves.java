package org.expertpool.harness.sim;

import java.util.Arrays;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Misses of each layer under LRU with 0 to E rows, in one pass of stack distances, and the split of a bank's rows over the
 * layers that they ask for. Experts of an event are looked up before any of them moves,
 * and then move in ascending order.
 */
final class MissCurves {
    private final long[][] misses; // [layers][E + 1]

    MissCurves(long[][] misses) {
        this.misses = misses;
    }

    /** The curves over the planned steps of one part of a trace, from an empty start. */
    static MissCurves count(RoutingTrace trace, int plannerLanes, ScoreWindow window) {
        TraceShape shape = trace.shape();
        long[][] misses = new long[shape.layers()][shape.experts() + 1];
        int[][] stacks = new int[shape.layers()][shape.experts()]; // most recently used first
        int[] depths = new int[shape.layers()];
        EventReader reader = new EventReader(trace, plannerLanes);
        while (reader.nextForward() && !window.isOver(reader.forward(), reader.sequence())) {
            if (reader.isWide()) {
                continue;
            }
            for (int layer = 0; layer < shape.layers(); layer++) {
                RoutingEvent event = reader.read(layer);
                Arrays.sort(event.experts, 0, event.size); // so that the order of lanes has no influence
                for (int i = 0; i < event.size; i++) {
                    int position = find(stacks[layer], depths[layer], event.experts[i]);
                    int rowsTooFew = position == depths[layer] ? shape.experts() : position;
                    misses[layer][rowsTooFew]++;
                }
                for (int i = 0; i < event.size; i++) {
                    int position = find(stacks[layer], depths[layer], event.experts[i]);
                    depths[layer] += position == depths[layer] ? 1 : 0;
                    System.arraycopy(stacks[layer], 0, stacks[layer], 1, position);
                    stacks[layer][0] = event.experts[i];
                }
            }
        }
        for (long[] curve : misses) { // from "misses with up to so many rows" to "misses with so many rows"
            for (int rows = shape.experts() - 1; rows >= 0; rows--) {
                curve[rows] += curve[rows + 1];
            }
        }
        return new MissCurves(misses);
    }

    private static int find(int[] stack, int depth, int expert) {
        int position = 0;
        while (position < depth && stack[position] != expert) {
            position++;
        }
        return position;
    }

    /** Misses of the layer with so many rows. */
    long misses(int layer, int rows) {
        return misses[layer][rows];
    }

    /**
     * The rows of each layer with the fewest misses in all, by dynamic programming; among equals the first layers get fewer.
     *
     * @param rows to split
     * @param least rows of any layer
     * @param most rows of any layer
     */
    int[] split(int rows, int least, int most) {
        int layers = misses.length;
        long[][] fewest = new long[layers + 1][rows + 1]; // with the layers from this one on
        int[][] chosen = new int[layers][rows + 1];
        Arrays.fill(fewest[layers], Long.MAX_VALUE);
        fewest[layers][0] = 0;
        for (int layer = layers - 1; layer >= 0; layer--) {
            Arrays.fill(fewest[layer], Long.MAX_VALUE);
            for (int left = least; left <= rows; left++) {
                for (int own = least; own <= Math.min(most, left); own++) {
                    long others = fewest[layer + 1][left - own];
                    if (others != Long.MAX_VALUE && others + misses[layer][own] < fewest[layer][left]) {
                        fewest[layer][left] = others + misses[layer][own];
                        chosen[layer][left] = own;
                    }
                }
            }
        }
        int[] split = new int[layers];
        int left = rows;
        for (int layer = 0; layer < layers; layer++) {
            split[layer] = chosen[layer][left];
            left -= split[layer];
        }
        return split;
    }
}
