package org.expertpool.harness.exact;

import org.HdrHistogram.Histogram;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.engine.MoeEngine;
import org.expertpool.pool.marlin.ActivationType;

/**
 * One pass of a trace through an engine, layer after layer in honest order: the input of a layer is made from the output
 * of the one before. Ends with the score window; the forwards before it run and are hashed, but are not timed.
 */
public final class EngineRun {
    private static final int SIGNIFICANT_DIGITS = 3;

    /**
     * What came out.
     *
     * @param outputSha256 over the bits of every layer's output of every forward, in order
     * @param forwards forwards in the score window
     * @param decodeTokens tokens of the decode forwards among them
     * @param decodeNanos time of those forwards' layer calls together, host clock
     * @param layerNanos time of each of those calls
     */
    public record Result(
            String outputSha256, long forwards, long decodeTokens, long decodeNanos, Histogram layerNanos) {}

    private final RoutingTrace trace;
    private final MoeEngine engine;
    private final HiddenStates states;
    private final OutputHash hash = new OutputHash();
    private final Histogram layerNanos = new Histogram(SIGNIFICANT_DIGITS);
    private long forwards;
    private long decodeTokens;
    private long decodeNanos;

    private EngineRun(RoutingTrace trace, MoeEngine engine, ActivationType type, int hidden, long seed) {
        this.trace = trace;
        this.engine = engine;
        states = new HiddenStates(type, hidden, seed);
    }

    /**
     * Replays the trace.
     *
     * @param type of the engine's activations
     * @param hidden hidden size of the engine's activations
     * @param seed of the first layer's inputs
     * @param scoringBegins called before the first forward in the window; never called where there is none
     */
    public static Result replay(
            RoutingTrace trace,
            ScoreWindow window,
            MoeEngine engine,
            ActivationType type,
            int hidden,
            long seed,
            Runnable scoringBegins) {
        return new EngineRun(trace, engine, type, hidden, seed).run(window, scoringBegins);
    }

    private Result run(ScoreWindow window, Runnable scoringBegins) {
        window.walk(trace, (cursor, scored) -> {
            if (scored && forwards++ == 0) {
                scoringBegins.run();
            }
            forward(cursor, scored && !cursor.isPrefill());
        });
        return new Result(hash.hex(), forwards, decodeTokens, decodeNanos, layerNanos);
    }

    private void forward(ForwardCursor cursor, boolean timed) {
        int lanes = Math.multiplyExact(cursor.tokens(), trace.shape().topK());
        int[] ids = new int[lanes];
        float[] weights = new float[lanes];
        short[] inputs = states.first(cursor.tokens());
        for (int layer = 0; layer < trace.shape().layers(); layer++) {
            cursor.ids(layer, ids);
            cursor.weights(layer, weights);
            long start = System.nanoTime();
            short[] outputs = engine.forward(layer, inputs, ids, weights);
            if (timed) {
                long nanos = System.nanoTime() - start;
                layerNanos.recordValue(nanos);
                decodeNanos += nanos;
            }
            hash.add(outputs);
            inputs = states.next(inputs, outputs);
        }
        decodeTokens += timed ? cursor.tokens() : 0;
    }
}
