package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.file.Path;

/** Opens and copies traces. */
public final class Traces {
    private Traces() {}

    /** Opens a trace of any known form with the defaults. */
    public static RoutingTrace open(Path file) throws IOException {
        return open(file, TraceOptions.defaults());
    }

    /**
     * Opens a trace of any known form, compressed with gzip or not.
     *
     * @throws org.expertpool.pool.BadInputException names the file and the line or byte where it is wrong
     */
    public static RoutingTrace open(Path file, TraceOptions options) throws IOException {
        return MappedTrace.open(file);
    }

    /** Hands all forwards of a trace to a sink; weights too where {@code weighted}. */
    public static void copy(RoutingTrace trace, ForwardSink sink) {
        TraceShape shape = trace.shape();
        ForwardCursor cursor = trace.cursor();
        int[] layerIds = new int[0];
        float[] layerWeights = new float[0];
        int[] ids = new int[0];
        float[] weights = shape.weighted() ? new float[0] : null;
        while (cursor.next()) {
            int lanes = Math.multiplyExact(cursor.tokens(), shape.topK());
            int all = Math.multiplyExact(lanes, shape.layers());
            if (ids.length < all) {
                layerIds = new int[lanes];
                layerWeights = new float[lanes];
                ids = new int[all];
                weights = shape.weighted() ? new float[all] : null;
            }
            for (int layer = 0; layer < shape.layers(); layer++) {
                cursor.ids(layer, layerIds);
                System.arraycopy(layerIds, 0, ids, layer * lanes, lanes);
                if (weights != null) {
                    cursor.weights(layer, layerWeights);
                    System.arraycopy(layerWeights, 0, weights, layer * lanes, lanes);
                }
            }
            sink.forward(ForwardHeader.of(cursor), ids, weights);
        }
    }
}
