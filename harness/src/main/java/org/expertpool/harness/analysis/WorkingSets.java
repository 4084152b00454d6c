package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** Distinct experts that each layer selects in so many consecutive planned forwards; windows neither overlap nor heed sequences. */
final class WorkingSets implements StepObserver {
    static final int[] WINDOWS = {50, 150, 500};

    private final int layers;
    private final List<Window> windows = new ArrayList<>();

    private static final class Window {
        final int forwards;
        final BitSet[] seen; // [L]
        final long[] distinct; // [L] summed over complete windows
        final int[] most; // [L]
        int begun;
        long complete;

        Window(int forwards, int layers) {
            this.forwards = forwards;
            seen = new BitSet[layers];
            for (int layer = 0; layer < layers; layer++) {
                seen[layer] = new BitSet();
            }
            distinct = new long[layers];
            most = new int[layers];
        }

        void forward() {
            if (begun == forwards) {
                close();
            }
            begun++;
        }

        private void close() {
            for (int layer = 0; layer < seen.length; layer++) {
                int size = seen[layer].cardinality();
                distinct[layer] += size;
                most[layer] = Math.max(most[layer], size);
                seen[layer].clear();
            }
            complete++;
            begun = 0;
        }
    }

    WorkingSets(int layers) {
        this.layers = layers;
        for (int forwards : WINDOWS) {
            windows.add(new Window(forwards, layers));
        }
    }

    @Override
    public void forward(long forward, long sequence, boolean startsSequence, int tokens, boolean scored) {
        windows.forEach(Window::forward);
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        for (Window window : windows) {
            for (int i = 0; i < event.size; i++) {
                window.seen[event.layer].set(event.experts[i]);
            }
        }
    }

    /** A row per window length and layer; none for a window that the trace is shorter than. */
    Table table() {
        Table table = Table.of("working_set", "window_forwards", "layer", "windows", "mean_experts", "most_experts");
        for (Window window : windows) {
            if (window.begun == window.forwards) {
                window.close();
            }
            for (int layer = 0; layer < layers && window.complete > 0; layer++) {
                double mean = (double) window.distinct[layer] / window.complete;
                table.add(List.of(window.forwards, layer, window.complete, mean, window.most[layer]));
            }
        }
        return table;
    }
}
