package org.expertpool.harness.sim;

import java.util.Locale;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;

/**
 * The part of a trace whose events are counted; earlier ones change the placement all the same.
 *
 * @param unit what is numbered, from 0 over the whole trace
 * @param from first forward or sequence that counts
 * @param to first one that no longer counts, {@code Long.MAX_VALUE} for the end of the trace
 */
public record ScoreWindow(Unit unit, long from, long to) {
    /** What a window's bounds number. */
    public enum Unit {
        FORWARD,
        SEQUENCE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What is done with a forward; the cursor stands on it. */
    @FunctionalInterface
    public interface Visitor {
        void visit(ForwardCursor cursor, boolean scored);
    }

    public ScoreWindow {
        if (from < 0 || to < from) {
            throw new BadInputException("score window: [" + from + ", " + to + ") is not 0 <= from <= to");
        }
    }

    /** The whole trace. */
    public static ScoreWindow all() {
        return forwards(0, Long.MAX_VALUE);
    }

    public static ScoreWindow forwards(long from, long to) {
        return new ScoreWindow(Unit.FORWARD, from, to);
    }

    public static ScoreWindow sequences(long from, long to) {
        return new ScoreWindow(Unit.SEQUENCE, from, to);
    }

    /** The window of an option's text, {@code forward=k} or {@code sequence=k}: from there to the end of the trace. */
    public static ScoreWindow parse(String text) {
        int equals = text.indexOf('=');
        for (Unit unit : Unit.values()) {
            if (equals > 0 && text.substring(0, equals).equals(unit.toString())) {
                return new ScoreWindow(unit, parseFrom(text, equals + 1), Long.MAX_VALUE);
            }
        }
        throw malformed(text);
    }

    private static long parseFrom(String text, int start) {
        try {
            long from = Long.parseLong(text.substring(start));
            if (from >= 0) {
                return from;
            }
        } catch (NumberFormatException notWhole) {
            // the same message as for a negative number
        }
        throw malformed(text);
    }

    private static BadInputException malformed(String text) {
        return new BadInputException(
                "score from \"" + text + "\": expected forward=k or sequence=k with a whole number k of at least 0");
    }

    /** The option's text, with the end where there is one. */
    @Override
    public String toString() {
        return unit + "=" + from + (to == Long.MAX_VALUE ? "" : ".." + to);
    }

    /** Whether a forward, numbered over the whole trace, or its sequence lies in the window. */
    public boolean counts(long forward, long sequence) {
        long at = unit == Unit.FORWARD ? forward : sequence;
        return from <= at && at < to;
    }

    /** Whether the window ends before this forward or its sequence: nothing after it counts. */
    public boolean isOver(long forward, long sequence) {
        return to <= (unit == Unit.FORWARD ? forward : sequence);
    }

    /** Visits the trace's forwards in order, up to the end of the window. */
    public void walk(RoutingTrace trace, Visitor visitor) {
        ForwardCursor cursor = trace.cursor();
        long sequence = -1;
        while (cursor.next()) {
            sequence += sequence < 0 || cursor.startsSequence() ? 1 : 0;
            if (isOver(cursor.forward(), sequence)) {
                return;
            }
            visitor.visit(cursor, counts(cursor.forward(), sequence));
        }
    }
}
