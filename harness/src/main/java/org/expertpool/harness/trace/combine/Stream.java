package org.expertpool.harness.trace.combine;

import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.combine.Sequences.Sequence;

/** One of the streams that decode side by side: plays a sequence forward by forward, then waits for the next one. */
final class Stream {
    private RoutingTrace trace;
    private ForwardCursor cursor;
    private long cursorForwards; // how many forwards the cursor has passed
    private long remaining;

    /** Whether its sequence is over, or none was given yet. */
    boolean isOver() {
        return remaining == 0;
    }

    /** Takes up a sequence. A cursor only goes forward: one that is past the place starts again at the trace's beginning. */
    void play(Sequence sequence) {
        if (trace != sequence.trace() || cursorForwards > sequence.first()) {
            trace = sequence.trace();
            cursor = trace.cursor();
            cursorForwards = 0;
        }
        while (cursorForwards < sequence.first()) {
            advance();
        }
        remaining = sequence.forwards();
    }

    /** The next forward of the sequence. */
    ForwardCursor next() {
        advance();
        remaining--;
        return cursor;
    }

    private void advance() {
        if (!cursor.next()) {
            throw new IllegalStateException("trace " + trace.source() + " ends at forward " + cursorForwards);
        }
        cursorForwards++;
    }
}
