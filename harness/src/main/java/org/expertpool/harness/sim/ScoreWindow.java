package org.expertpool.harness.sim;

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
        SEQUENCE
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

    boolean counts(long forward, long sequence) {
        long at = unit == Unit.FORWARD ? forward : sequence;
        return from <= at && at < to;
    }

    boolean isOver(long forward, long sequence) {
        return to <= (unit == Unit.FORWARD ? forward : sequence);
    }
}
