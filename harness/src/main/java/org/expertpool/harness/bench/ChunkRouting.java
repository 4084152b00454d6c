package org.expertpool.harness.bench;

import java.util.Optional;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.model.ModelGeometry;

/**
 * Which experts the tokens of a prefill chunk choose.
 *
 * @param preset tokens of this synthetic trace, from its start; absent: each token's drawn uniformly
 */
public record ChunkRouting(Optional<String> preset) {
    private static final long SEED = 1;

    /** In results. */
    String label() {
        return preset.orElse("uniform");
    }

    RoutingTape tape(ModelGeometry geometry, int tokens, int chunks) {
        return preset.isEmpty() ? UniformTape.of(geometry, tokens, chunks) : ofTrace(geometry, tokens, chunks);
    }

    private RoutingTape ofTrace(ModelGeometry geometry, int tokens, int chunks) {
        int topK = geometry.topK();
        int lanes = tokens * topK;
        int[] ids = new int[chunks * geometry.layers() * lanes];
        float[] weights = new float[ids.length];
        int[] tokenIds = new int[topK];
        float[] tokenWeights = new float[topK];
        try (RoutingTrace trace = SyntheticTraces.preset(preset.orElseThrow(), (long) chunks * tokens, SEED)) {
            requireShape(geometry, trace);
            ForwardCursor cursor = trace.cursor();
            for (int token = 0; cursor.next(); token++) {
                for (int layer = 0; layer < geometry.layers(); layer++) {
                    int at = (token / tokens * geometry.layers() + layer) * lanes + token % tokens * topK;
                    cursor.ids(layer, tokenIds);
                    cursor.weights(layer, tokenWeights);
                    System.arraycopy(tokenIds, 0, ids, at, topK);
                    System.arraycopy(tokenWeights, 0, weights, at, topK);
                }
            }
        }
        return new RoutingTape(chunks, geometry.layers(), lanes, ids, weights);
    }

    /** A model may have fewer layers than the trace: the first ones. */
    private void requireShape(ModelGeometry geometry, RoutingTrace trace) {
        if (trace.shape().experts() != geometry.experts()
                || trace.shape().topK() != geometry.topK()
                || trace.shape().layers() < geometry.layers()) {
            throw new BadInputException("--routing is " + label() + ", of "
                    + trace.shape().layers() + " layers of "
                    + trace.shape().experts() + " experts, top-" + trace.shape().topK() + ", expected "
                    + geometry.layers() + " layers or more of " + geometry.experts() + ", top-" + geometry.topK());
        }
    }
}
