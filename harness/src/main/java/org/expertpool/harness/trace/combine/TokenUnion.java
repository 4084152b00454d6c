package org.expertpool.harness.trace.combine;

import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.ForwardSink;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;

/**
 * Consecutive decode tokens of a sequence as one forward, as when drafted tokens are verified together and all accepted.
 * Groups are disjoint and end with their sequence or at a prefill chunk, which passes unchanged; the last may be narrower.
 */
public final class TokenUnion {
    private final RoutingTrace trace;
    private final int rows;

    /** @param rows tokens per forward, at least 1 */
    public TokenUnion(RoutingTrace trace, int rows) {
        if (rows < 1) {
            throw new BadInputException("union rows: " + rows + ", expected at least 1 token per forward");
        }
        this.trace = trace;
        this.rows = rows;
    }

    /** Hands the wider forwards to a sink; positions and sequences stay. */
    public void writeTo(ForwardSink sink) {
        WideForward group = new WideForward(trace.shape(), sink);
        ForwardCursor cursor = trace.cursor();
        boolean starts = false;
        int position = 0;
        while (cursor.next()) {
            WideForward.requireSingleDecode(trace.source(), cursor);
            boolean ends = cursor.startsSequence() || cursor.isPrefill() || group.tokens() == rows;
            if (ends && group.tokens() > 0) {
                group.emit(starts, false, position);
            }
            if (group.tokens() == 0) {
                starts = cursor.startsSequence();
                position = cursor.position();
            }
            group.add(cursor);
            if (cursor.isPrefill()) {
                group.emit(starts, true, position);
            }
        }
        if (group.tokens() > 0) {
            group.emit(starts, false, position);
        }
    }

    /** Where the wider forwards come from, in words. */
    public String source() {
        return "unions of " + rows + " consecutive decode tokens of: " + trace.source();
    }
}
