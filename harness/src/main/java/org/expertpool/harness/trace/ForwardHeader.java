package org.expertpool.harness.trace;

/**
 * What a trace says about one forward besides its routing.
 *
 * @param startsSequence whether it is the first forward of its sequence
 * @param prefill whether it is a prefill chunk (decode otherwise)
 * @param position position in the sequence of the first token, at least 0
 * @param tokens tokens of the forward, at least 1
 */
public record ForwardHeader(boolean startsSequence, boolean prefill, int position, int tokens) {
    public ForwardHeader {
        if (position < 0) {
            throw new IllegalArgumentException("position is " + position + ", expected at least 0");
        }
        if (tokens < 1) {
            throw new IllegalArgumentException("tokens is " + tokens + ", expected at least 1");
        }
    }

    /** One decode token. */
    public static ForwardHeader decode(boolean startsSequence, int position) {
        return new ForwardHeader(startsSequence, false, position, 1);
    }

    /** The header of the forward that a cursor stands on. */
    public static ForwardHeader of(ForwardCursor cursor) {
        return new ForwardHeader(cursor.startsSequence(), cursor.isPrefill(), cursor.position(), cursor.tokens());
    }
}
