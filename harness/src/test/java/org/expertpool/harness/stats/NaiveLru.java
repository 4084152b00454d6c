package org.expertpool.harness.stats;

import java.util.Arrays;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;

/** Per-layer LRU as pool-semantics states it, empty at the start, written as plainly as possible. */
public final class NaiveLru {
    private final int[] owner;
    private final long[] lastUse;
    private long hits;
    private long selections;

    private NaiveLru(int rows) {
        owner = new int[rows];
        lastUse = new long[rows];
        Arrays.fill(owner, -1);
    }

    /** Hit ratio over the forwards {@code [from, to)} of a trace of single tokens; earlier forwards fill the rows. */
    public static double hitRatio(RoutingTrace trace, int rows, long from, long to) {
        NaiveLru[] layers = new NaiveLru[trace.shape().layers()];
        Arrays.setAll(layers, layer -> new NaiveLru(rows));
        int[] ids = new int[trace.shape().topK()];
        ForwardCursor cursor = trace.cursor();
        while (cursor.next() && cursor.forward() < to) {
            for (int layer = 0; layer < layers.length; layer++) {
                cursor.ids(layer, ids);
                layers[layer].step(ids, cursor.forward() + 1, cursor.forward() >= from);
            }
        }
        long hits = Arrays.stream(layers).mapToLong(layer -> layer.hits).sum();
        return (double) hits
                / Arrays.stream(layers).mapToLong(layer -> layer.selections).sum();
    }

    private void step(int[] ids, long clock, boolean scored) {
        boolean[] resident = new boolean[ids.length];
        for (int lane = 0; lane < ids.length; lane++) {
            int row = rowOf(ids[lane]);
            resident[lane] = row >= 0;
            if (row >= 0) {
                lastUse[row] = clock;
            }
        }
        for (int lane = 0; lane < ids.length; lane++) {
            if (!resident[lane]) {
                int victim = oldest();
                owner[victim] = ids[lane];
                lastUse[victim] = clock;
            }
            if (scored) {
                hits += resident[lane] ? 1 : 0;
                selections++;
            }
        }
    }

    private int rowOf(int expert) {
        for (int row = 0; row < owner.length; row++) {
            if (owner[row] == expert) {
                return row;
            }
        }
        return -1;
    }

    private int oldest() {
        int oldest = 0;
        for (int row = 1; row < owner.length; row++) {
            if (lastUse[row] < lastUse[oldest]) {
                oldest = row;
            }
        }
        return oldest;
    }
}
