package org.expertpool.harness.sim;

import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Selection counts by expert, from which a static placement is frozen.
 *
 * @param layers MoE layers
 * @param experts experts per layer
 * @param counts planned steps that selected the expert, {@code [layers * experts]} by key; not copied
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once and only read
public record ExpertProfile(int layers, int experts, long[] counts) {
    public ExpertProfile {
        if (counts.length != Math.multiplyExact(layers, experts)) {
            throw new BadInputException(
                    "profile: " + counts.length + " counts, expected " + layers + " layers x " + experts + " experts");
        }
    }

    /** Counts the planned steps of one part of a trace. */
    static ExpertProfile count(RoutingTrace trace, int plannerLanes, ScoreWindow window) {
        TraceShape shape = trace.shape();
        long[] counts = new long[Math.multiplyExact(shape.layers(), shape.experts())];
        EventReader reader = new EventReader(trace, plannerLanes);
        while (reader.nextForward() && !window.isOver(reader.forward(), reader.sequence())) {
            if (reader.isWide() || !window.counts(reader.forward(), reader.sequence())) {
                continue;
            }
            for (int layer = 0; layer < shape.layers(); layer++) {
                RoutingEvent event = reader.read(layer);
                for (int i = 0; i < event.size; i++) {
                    counts[layer * shape.experts() + event.experts[i]]++;
                }
            }
        }
        return new ExpertProfile(shape.layers(), shape.experts(), counts);
    }

    /**
     * The first half of a trace's sequences, rounded down; of a single sequence, the first half of its forwards, rounded
     * down but at least one.
     */
    static ScoreWindow firstHalf(RoutingTrace trace) {
        EventReader reader = new EventReader(trace, trace.shape().topK());
        while (reader.nextForward()) {
            // only the boundaries matter
        }
        long sequences = reader.sequence() + 1;
        return sequences > 1
                ? ScoreWindow.sequences(0, sequences / 2)
                : ScoreWindow.forwards(0, Math.max(1, trace.forwards() / 2));
    }

    /** The counts for a trace of this shape; refuses one of another shape. */
    long[] countsFor(TraceShape shape) {
        if (shape.layers() != layers || shape.experts() != experts) {
            throw new BadInputException("profile: it is for " + layers + " layers x " + experts
                    + " experts, expected the trace's " + shape.layers() + " x " + shape.experts());
        }
        return counts;
    }
}
