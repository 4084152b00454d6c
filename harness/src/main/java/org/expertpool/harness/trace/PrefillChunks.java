package org.expertpool.harness.trace;

/**
 * Joins the first tokens of each sequence of a decode trace into one prefill chunk, as an engine would take a prompt. A
 * sequence that ends earlier is one shorter chunk.
 */
public final class PrefillChunks {
    private final TraceShape shape;
    private final int chunkTokens;
    private final ForwardSink sink;
    private final int[] laneIds; // [topK]
    private final float[] laneWeights; // [topK]
    private final int[][] ids; // [chunk tokens][layers * topK]
    private final float[][] weights; // the same
    private int held;
    private int position;
    private long written;

    private PrefillChunks(TraceShape shape, int chunkTokens, ForwardSink sink) {
        this.shape = shape;
        this.chunkTokens = chunkTokens;
        this.sink = sink;
        laneIds = new int[shape.topK()];
        laneWeights = new float[shape.topK()];
        ids = new int[chunkTokens][shape.layers() * shape.topK()];
        weights = new float[chunkTokens][shape.layers() * shape.topK()];
    }

    /**
     * Writes the first forwards of the joined trace, or all of them where there are fewer.
     *
     * @param trace forwards of one token each
     * @param chunkTokens tokens of a prefill chunk, at least 1
     * @param forwards most forwards written
     */
    public static void copy(RoutingTrace trace, int chunkTokens, long forwards, ForwardSink sink) {
        new PrefillChunks(trace.shape(), chunkTokens, sink).copy(trace.cursor(), forwards);
    }

    private void copy(ForwardCursor cursor, long forwards) {
        boolean inPrefill = false;
        while (written < forwards && cursor.next()) {
            if (cursor.tokens() != 1) {
                throw new IllegalArgumentException("forward " + cursor.forward() + " has " + cursor.tokens()
                        + " tokens, expected decode forwards of one token");
            }
            boolean starts = cursor.startsSequence();
            if (starts && held > 0) {
                flush(true);
                if (written == forwards) {
                    return;
                }
            }
            inPrefill |= starts;
            hold(cursor);
            if (!inPrefill || held == chunkTokens) {
                flush(inPrefill);
                inPrefill = false;
            }
        }
        if (held > 0 && written < forwards) {
            flush(true);
        }
    }

    private void hold(ForwardCursor cursor) {
        if (held == 0) {
            position = cursor.position();
        }
        for (int layer = 0; layer < shape.layers(); layer++) {
            cursor.ids(layer, laneIds);
            cursor.weights(layer, laneWeights);
            System.arraycopy(laneIds, 0, ids[held], layer * shape.topK(), shape.topK());
            System.arraycopy(laneWeights, 0, weights[held], layer * shape.topK(), shape.topK());
        }
        held++;
    }

    private void flush(boolean prefill) {
        int topK = shape.topK();
        int[] joinedIds = new int[shape.layers() * held * topK];
        float[] joinedWeights = new float[joinedIds.length];
        for (int layer = 0; layer < shape.layers(); layer++) {
            for (int token = 0; token < held; token++) {
                int to = (layer * held + token) * topK;
                System.arraycopy(ids[token], layer * topK, joinedIds, to, topK);
                System.arraycopy(weights[token], layer * topK, joinedWeights, to, topK);
            }
        }
        ForwardHeader header = new ForwardHeader(prefill, prefill, position, held);
        sink.forward(header, joinedIds, shape.weighted() ? joinedWeights : null);
        held = 0;
        written++;
    }
}
