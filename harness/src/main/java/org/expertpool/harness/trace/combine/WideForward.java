package org.expertpool.harness.trace.combine;

import java.util.Arrays;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.ForwardSink;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;

/** Collects tokens of several cursors and hands them out as one forward. */
final class WideForward {
    private final TraceShape shape;
    private final ForwardSink sink;
    private int[] tokenIds; // [token][layer][slot], as they come
    private float[] tokenWeights;
    private int tokens;

    WideForward(TraceShape shape, ForwardSink sink) {
        this.shape = shape;
        this.sink = sink;
        tokenIds = new int[0];
        tokenWeights = new float[0];
    }

    int tokens() {
        return tokens;
    }

    /** Refuses a forward that decodes several tokens at once: which of them were kept is not in a trace. */
    static void requireSingleDecode(String source, ForwardCursor cursor) {
        if (!cursor.isPrefill() && cursor.tokens() > 1) {
            throw new BadInputException("trace (" + source + "): forward " + cursor.forward() + " decodes "
                    + cursor.tokens() + " tokens at once, expected single-token decode");
        }
    }

    /** Takes all tokens of the forward that the cursor stands on. */
    void add(ForwardCursor cursor) {
        int perToken = Math.multiplyExact(shape.layers(), shape.topK());
        int taken = cursor.tokens();
        reserve(Math.multiplyExact(tokens + taken, perToken));
        int[] ids = new int[taken * shape.topK()];
        float[] weights = new float[ids.length];
        for (int layer = 0; layer < shape.layers(); layer++) {
            cursor.ids(layer, ids);
            cursor.weights(layer, weights);
            for (int token = 0; token < taken; token++) {
                int at = (tokens + token) * perToken + layer * shape.topK();
                System.arraycopy(ids, token * shape.topK(), tokenIds, at, shape.topK());
                System.arraycopy(weights, token * shape.topK(), tokenWeights, at, shape.topK());
            }
        }
        tokens += taken;
    }

    /** Hands the tokens out as one forward and is empty again. */
    void emit(boolean startsSequence, boolean prefill, int position) {
        int lanes = tokens * shape.topK();
        int[] ids = new int[shape.layers() * lanes];
        float[] weights = shape.weighted() ? new float[ids.length] : null;
        for (int token = 0; token < tokens; token++) {
            for (int layer = 0; layer < shape.layers(); layer++) {
                int from = (token * shape.layers() + layer) * shape.topK();
                int to = layer * lanes + token * shape.topK();
                System.arraycopy(tokenIds, from, ids, to, shape.topK());
                if (weights != null) {
                    System.arraycopy(tokenWeights, from, weights, to, shape.topK());
                }
            }
        }
        sink.forward(new ForwardHeader(startsSequence, prefill, position, tokens), ids, weights);
        tokens = 0;
    }

    private void reserve(int lanes) {
        if (tokenIds.length < lanes) {
            tokenIds = Arrays.copyOf(tokenIds, lanes);
            tokenWeights = Arrays.copyOf(tokenWeights, lanes);
        }
    }
}
