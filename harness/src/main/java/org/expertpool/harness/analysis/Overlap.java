package org.expertpool.harness.analysis;

import java.util.BitSet;
import java.util.List;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** Share of a step's experts that the same layer selected so many planned forwards earlier in the same sequence. */
final class Overlap implements StepObserver {
    static final int[] LAGS = {1, 2, 4, 8, 16, 32, 64, 128};
    private static final int KEPT = LAGS[LAGS.length - 1] + 1;

    private final BitSet[][] recent; // [L][KEPT] by forward of the sequence
    private final long[] shared = new long[LAGS.length];
    private final long[] compared = new long[LAGS.length];
    private long sequence = -1;
    private long forward; // within the sequence

    Overlap(int layers) {
        recent = new BitSet[layers][KEPT];
        for (BitSet[] ofLayer : recent) {
            for (int slot = 0; slot < KEPT; slot++) {
                ofLayer[slot] = new BitSet();
            }
        }
    }

    @Override
    public void forward(long number, long ofSequence, boolean startsSequence, int tokens, boolean scored) {
        forward = ofSequence == sequence ? forward + 1 : 0;
        sequence = ofSequence;
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        BitSet[] ofLayer = recent[event.layer];
        for (int index = 0; index < LAGS.length && LAGS[index] <= forward; index++) {
            BitSet earlier = ofLayer[(int) ((forward - LAGS[index]) % KEPT)];
            for (int i = 0; i < event.size; i++) {
                shared[index] += earlier.get(event.experts[i]) ? 1 : 0;
            }
            compared[index] += event.size;
        }
        BitSet now = ofLayer[(int) (forward % KEPT)];
        now.clear();
        for (int i = 0; i < event.size; i++) {
            now.set(event.experts[i]);
        }
    }

    /** A row per lag that some sequence is longer than. */
    Table table() {
        Table table = Table.of("lag_overlap", "lag_forwards", "selections", "overlap_ratio");
        for (int index = 0; index < LAGS.length; index++) {
            if (compared[index] > 0) {
                table.add(List.of(LAGS[index], compared[index], (double) shared[index] / compared[index]));
            }
        }
        return table;
    }
}
