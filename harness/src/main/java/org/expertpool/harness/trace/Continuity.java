package org.expertpool.harness.trace;

/**
 * The rule that joins a sequence's forwards: the first forward starts a sequence; after that, the position grows and leaves
 * no gap. It may overlap the forward before, as a decode forward does that verifies drafted tokens again.
 */
final class Continuity {
    private Continuity() {}

    /** What is wrong with a forward's place in its sequence, as "found, expected"; null where nothing is. */
    static String problem(
            boolean first, int previousPosition, int previousTokens, boolean startsSequence, long position) {
        if (position > Integer.MAX_VALUE) {
            return "is at position " + position + ", expected at most " + Integer.MAX_VALUE;
        }
        if (startsSequence) {
            return null;
        }
        if (first) {
            return "starts no sequence, expected the first forward to start one";
        }
        long end = (long) previousPosition + previousTokens;
        if (position <= previousPosition || position > end) {
            String range = previousTokens == 1 ? Long.toString(end) : previousPosition + 1 + " to " + end;
            return "is at position " + position + ", expected " + range + " or the start of a sequence";
        }
        return null;
    }
}
