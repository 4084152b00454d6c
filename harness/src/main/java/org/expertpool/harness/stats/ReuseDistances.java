package org.expertpool.harness.stats;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Hit ratio of per-layer LRU, empty at the start, for every number of rows in one pass (Mattson's stack). Events are
 * atomic: all experts of an event are looked up before any of them moves; they then move to the front in lane order. A
 * ratio over all scored selections is the mean over layers, since every layer has as many.
 */
final class ReuseDistances implements Accumulator {
    private final String window;
    private final long from;
    private final long to;
    private final double[] rows;
    private final int[][] stacks;
    private final int[] depths;

    /** Scored selections by position in the stack; the last entry counts experts not seen before. */
    private final long[] positions;

    /**
     * @param window name of the scored window, part of the statistics' names
     * @param from first scored forward; earlier ones only fill the stack
     * @param to scored forwards end before this one
     * @param rows rows per layer to report; between whole numbers the ratio is interpolated
     */
    ReuseDistances(String window, long from, long to, double[] rows, int layers, int experts) {
        this.window = window;
        this.from = from;
        this.to = to;
        this.rows = rows.clone();
        stacks = new int[layers][experts];
        depths = new int[layers];
        positions = new long[experts + 1];
    }

    @Override
    public void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK) {
        if (forward >= to) {
            return;
        }
        if (forward >= from) {
            for (int lane = 0; lane < topK; lane++) {
                int position = find(layer, ids[lane]);
                positions[position == depths[layer] ? positions.length - 1 : position]++;
            }
        }
        for (int lane = 0; lane < topK; lane++) {
            moveToFront(layer, ids[lane]);
        }
    }

    private int find(int layer, int expert) {
        int[] stack = stacks[layer];
        int position = 0;
        while (position < depths[layer] && stack[position] != expert) {
            position++;
        }
        return position;
    }

    private void moveToFront(int layer, int expert) {
        int position = find(layer, expert);
        if (position == depths[layer]) {
            depths[layer]++;
        }
        System.arraycopy(stacks[layer], 0, stacks[layer], 1, position);
        stacks[layer][0] = expert;
    }

    /** Share of scored selections that LRU with this many rows per layer holds; NaN where nothing was scored. */
    double hitRatio(double rowsPerLayer) {
        int below = (int) rowsPerLayer;
        double share = rowsPerLayer - below;
        double hits = hits(below) * (1 - share) + hits(below + 1) * share;
        return hits / Arrays.stream(positions).sum();
    }

    private long hits(int wholeRows) {
        return Arrays.stream(positions, 0, Math.min(wholeRows, positions.length - 1))
                .sum();
    }

    @Override
    public void report(Consumer<Statistic> target) {
        if (Arrays.stream(positions).sum() == 0) {
            return;
        }
        for (double count : rows) {
            String name = String.format(Locale.ROOT, "lru_hit_ratio_%s_%s_rows", window, StatisticNames.rows(count));
            target.accept(new Statistic(name, hitRatio(count)));
        }
    }
}
