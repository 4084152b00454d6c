package org.expertpool.harness.bench;

import java.util.Arrays;
import java.util.Random;
import org.expertpool.pool.cuda.engine.RoutingTape;

/** Routing that favours no expert: every token's are distinct and drawn uniformly. */
final class UniformTape {
    private UniformTape() {}

    static RoutingTape of(int experts, int topK, int layers, int tokens, int forwards, long seed) {
        Random random = new Random(seed);
        int[] ids = new int[forwards * layers * tokens * topK];
        float[] weights = new float[ids.length];
        for (int token = 0; token < ids.length; token += topK) {
            int[] distinct = random.ints(0, experts).distinct().limit(topK).toArray();
            System.arraycopy(distinct, 0, ids, token, topK);
            Arrays.fill(weights, token, token + topK, 1f / topK);
        }
        return new RoutingTape(forwards, layers, tokens * topK, ids, weights);
    }
}
