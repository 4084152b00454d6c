package org.expertpool.harness.trace.combine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;

/** Where the sequences of a trace lie. */
final class Sequences {
    /**
     * One sequence.
     *
     * @param first number of its first forward in the trace
     * @param forwards its length in forwards
     */
    record Sequence(RoutingTrace trace, long first, long forwards) {}

    private Sequences() {}

    /** All sequences in order; one pass over the headers, refusing wide decode. */
    static List<Sequence> of(RoutingTrace trace) {
        List<Sequence> found = new ArrayList<>();
        ForwardCursor cursor = trace.cursor();
        long first = 0;
        long forward = 0;
        while (cursor.next()) {
            WideForward.requireSingleDecode(trace.source(), cursor);
            if (cursor.startsSequence() && forward > first) {
                found.add(new Sequence(trace, first, forward - first));
                first = forward;
            }
            forward++;
        }
        if (forward > first) {
            found.add(new Sequence(trace, first, forward - first));
        }
        return found;
    }
}
