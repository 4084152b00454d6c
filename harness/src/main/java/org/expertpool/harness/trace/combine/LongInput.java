package org.expertpool.harness.trace.combine;

import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.ForwardSink;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;

/**
 * One request: the first tokens of a decode trace as a prompt in prefill chunks, all others decoded after it. The result
 * is one sequence, whatever sequences its tokens came from.
 */
public final class LongInput {
    private final RoutingTrace trace;
    private final long inputTokens;
    private final int chunkTokens;

    /**
     * @param trace forwards of one decoded token each
     * @param inputTokens of the prompt, at least 1
     * @param chunkTokens of each prefill chunk, at least 1; the last one has what is left
     */
    public LongInput(RoutingTrace trace, long inputTokens, int chunkTokens) {
        if (inputTokens < 1 || inputTokens >= trace.forwards()) {
            throw new BadInputException("input tokens: " + inputTokens + ", expected at least 1 and fewer than the "
                    + trace.forwards() + " of the trace");
        }
        if (chunkTokens < 1) {
            throw new BadInputException("chunk tokens: " + chunkTokens + ", expected at least 1");
        }
        this.trace = trace;
        this.inputTokens = inputTokens;
        this.chunkTokens = chunkTokens;
    }

    /** Hands the chunks, then the decode forwards to a sink. */
    public void writeTo(ForwardSink sink) {
        WideForward chunk = new WideForward(trace.shape(), sink);
        ForwardCursor cursor = trace.cursor();
        int taken = 0;
        while (cursor.next()) {
            if (cursor.isPrefill()) {
                throw new BadInputException("trace (" + trace.source() + "): forward " + cursor.forward()
                        + " is a prefill chunk, expected decode alone");
            }
            WideForward.requireSingleDecode(trace.source(), cursor);
            chunk.add(cursor);
            taken++;
            boolean inPrompt = taken <= inputTokens;
            if (!inPrompt || chunk.tokens() == chunkTokens || taken == inputTokens) {
                int first = taken - chunk.tokens();
                chunk.emit(first == 0, inPrompt, first);
            }
        }
    }

    /** Where the request comes from, in words. */
    public String source() {
        return "the first " + inputTokens + " tokens as a prompt in chunks of " + chunkTokens + ", of: "
                + trace.source();
    }
}
