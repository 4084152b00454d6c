package org.expertpool.pool.cuda.model;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.engine.Fp32Math;
import org.expertpool.pool.format.Bf16;

/** The router kernel's arithmetic in plain loops, sums in its order. Activations and matrix are bf16. */
final class RouterTwin {
    static final int VECTOR = 8;
    private static final int WARP = 32;
    private static final int THREADS = 256;

    /** Experts and weights by lane; logits by token and expert. */
    static final class Routing {
        final int[] ids;
        final float[] weights;
        final float[] logits;

        private Routing(int lanes, int logits) {
            ids = new int[lanes];
            weights = new float[lanes];
            this.logits = new float[logits];
        }
    }

    private final int hidden;
    private final int experts;
    private final int topK;
    private final short[] activations; // [tokens, hidden]
    private final short[] matrix; // [experts, hidden]

    RouterTwin(int hidden, int experts, int topK, short[] activations, short[] matrix) {
        this.hidden = hidden;
        this.experts = experts;
        this.topK = topK;
        this.activations = activations;
        this.matrix = matrix;
    }

    RouterTwin(int tokens, int hidden, int experts, int topK, long seed) {
        this(hidden, experts, topK, new short[tokens * hidden], new short[experts * hidden]);
        Random random = new Random(seed);
        for (int i = 0; i < activations.length; i++) {
            activations[i] = Bf16.fromFloat(random.nextFloat() - 0.5f);
        }
        for (int i = 0; i < matrix.length; i++) {
            matrix[i] = Bf16.fromFloat(random.nextFloat() - 0.5f);
        }
        System.arraycopy(matrix, 0, matrix, hidden, hidden); // experts 0 and 1 tie
    }

    int tokens() {
        return activations.length / hidden;
    }

    int hidden() {
        return hidden;
    }

    int experts() {
        return experts;
    }

    int topK() {
        return topK;
    }

    short[] activations() {
        return activations;
    }

    short[] matrix() {
        return matrix;
    }

    Routing route() {
        int tokens = tokens();
        Routing all = new Routing(tokens * topK, tokens * experts);
        for (int token = 0; token < tokens; token++) {
            for (int expert = 0; expert < experts; expert++) {
                all.logits[token * experts + expert] = logit(token, expert);
            }
            choose(token, all);
        }
        return all;
    }

    private float logit(int token, int expert) {
        float[] sums = new float[WARP];
        for (int k = 0; k < hidden; k++) {
            int lane = k / VECTOR % WARP;
            sums[lane] = Math.fma(
                    Bf16.toFloat(matrix[expert * hidden + k]),
                    Bf16.toFloat(activations[token * hidden + k]),
                    sums[lane]);
        }
        for (int apart = WARP / 2; apart > 0; apart /= 2) {
            for (int lane = 0; lane < apart; lane++) {
                sums[lane] += sums[lane + apart];
            }
        }
        return sums[0];
    }

    private void choose(int token, Routing all) {
        float[] probability = Arrays.copyOfRange(all.logits, token * experts, (token + 1) * experts);
        float most = Float.NEGATIVE_INFINITY;
        for (float logit : probability) {
            most = Math.max(most, logit);
        }
        float[] sums = new float[THREADS];
        for (int expert = 0; expert < experts; expert++) {
            probability[expert] = Fp32Math.exp(probability[expert] - most);
            sums[expert % THREADS] += probability[expert];
        }
        for (int count = THREADS; count > 1; count /= 2) {
            for (int i = 0; i < count / 2; i++) {
                sums[i] = sums[2 * i] + sums[2 * i + 1];
            }
        }
        for (int expert = 0; expert < experts; expert++) {
            probability[expert] /= sums[0];
        }
        int[] chosen = IntStream.range(0, experts)
                .boxed()
                .sorted(Comparator.comparing((Integer expert) -> -probability[expert]))
                .limit(topK)
                .mapToInt(Integer::intValue)
                .toArray();
        float total = 0;
        for (int expert : chosen) {
            total += probability[expert];
        }
        for (int k = 0; k < topK; k++) {
            all.ids[token * topK + k] = chosen[k];
            all.weights[token * topK + k] = probability[chosen[k]] / total;
        }
    }
}
