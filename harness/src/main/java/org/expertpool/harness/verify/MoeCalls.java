package org.expertpool.harness.verify;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.expertpool.pool.marlin.ActivationType;

/** Tokens of one MoE layer: inputs with the type that a layer takes them in, routing and, where known, the outputs that are expected. */
final class MoeCalls {
    private final ActivationType type;
    private final int topK;
    private final float[] inputs; // [tokens, hidden]
    private final int[] ids; // [tokens, topK]
    private final float[] weights; // [tokens, topK]
    private final double[] expected; // [tokens, hidden]

    private MoeCalls(ActivationType type, int topK, float[] inputs, int[] ids, float[] weights, double[] expected) {
        this.type = type;
        this.topK = topK;
        this.inputs = inputs;
        this.ids = ids;
        this.weights = weights;
        this.expected = expected;
    }

    /** So many tokens, all zero. */
    static MoeCalls of(ActivationType type, int tokens, int topK, int hidden) {
        return new MoeCalls(
                type,
                topK,
                new float[Math.multiplyExact(tokens, hidden)],
                new int[Math.multiplyExact(tokens, topK)],
                new float[tokens * topK],
                new double[tokens * hidden]);
    }

    /** Seeded tokens: standard normal inputs that the type holds, distinct experts, weights that sum to about 1. */
    static MoeCalls seeded(ActivationType type, int tokens, int topK, int experts, int hidden, long seed) {
        MoeCalls calls = of(type, tokens, topK, hidden);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < calls.inputs.length; i++) {
            calls.inputs[i] = type.round((float) random.nextGaussian());
        }
        for (int token = 0; token < tokens; token++) {
            int[] chosen = random.ints(0, experts).distinct().limit(topK).toArray();
            System.arraycopy(chosen, 0, calls.ids, token * topK, topK);
        }
        Arrays.setAll(calls.expected, i -> 0);
        for (int lane = 0; lane < calls.weights.length; lane++) {
            calls.weights[lane] = (float) ((0.5 + random.nextDouble()) / topK);
        }
        return calls;
    }

    int tokens() {
        return ids.length / topK;
    }

    float[] inputs() {
        return inputs;
    }

    int[] ids() {
        return ids;
    }

    float[] weights() {
        return weights;
    }

    double[] expected() {
        return expected;
    }

    /** Tokens {@code from} to {@code to - 1} of these. */
    MoeCalls slice(int from, int to) {
        int hidden = inputs.length / tokens();
        return new MoeCalls(
                type,
                topK,
                Arrays.copyOfRange(inputs, from * hidden, to * hidden),
                Arrays.copyOfRange(ids, from * topK, to * topK),
                Arrays.copyOfRange(weights, from * topK, to * topK),
                Arrays.copyOfRange(expected, from * hidden, to * hidden));
    }

    /** The inputs as a layer takes them. */
    short[] activations() {
        short[] activations = new short[inputs.length];
        for (int i = 0; i < activations.length; i++) {
            activations[i] = type.fromFloat(inputs[i]);
        }
        return activations;
    }

    /** The inputs as the type holds them. */
    double[] roundedInputs() {
        return widen(activations());
    }

    /** Values of the calls' type. */
    double[] widen(short[] bits) {
        double[] values = new double[bits.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = type.toFloat(bits[i]);
        }
        return values;
    }
}
