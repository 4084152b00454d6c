package org.expertpool.harness.trace;

/**
 * What the forward headers of a trace add up to; one pass, no ids read.
 *
 * @param forwards forwards
 * @param tokens tokens over all forwards
 * @param sequences sequences
 * @param prefillForwards forwards that are prefill chunks
 * @param prefillTokens tokens in prefill chunks
 * @param wideForwards forwards of more than one token
 * @param widestTokens tokens of the widest forward
 * @param overlaps forwards that start before the end of the forward before, as drafts verified again do
 */
public record TraceOutline(
        long forwards,
        long tokens,
        long sequences,
        long prefillForwards,
        long prefillTokens,
        long wideForwards,
        int widestTokens,
        long overlaps) {

    public static TraceOutline of(RoutingTrace trace) {
        ForwardCursor cursor = trace.cursor();
        long forwards = 0;
        long tokens = 0;
        long sequences = 0;
        long prefillForwards = 0;
        long prefillTokens = 0;
        long wideForwards = 0;
        int widestTokens = 0;
        long overlaps = 0;
        long end = 0;
        while (cursor.next()) {
            forwards++;
            tokens += cursor.tokens();
            sequences += cursor.startsSequence() ? 1 : 0;
            prefillForwards += cursor.isPrefill() ? 1 : 0;
            prefillTokens += cursor.isPrefill() ? cursor.tokens() : 0;
            wideForwards += cursor.tokens() > 1 ? 1 : 0;
            widestTokens = Math.max(widestTokens, cursor.tokens());
            overlaps += !cursor.startsSequence() && cursor.position() < end ? 1 : 0;
            end = (long) cursor.position() + cursor.tokens();
        }
        return new TraceOutline(
                forwards, tokens, sequences, prefillForwards, prefillTokens, wideForwards, widestTokens, overlaps);
    }
}
