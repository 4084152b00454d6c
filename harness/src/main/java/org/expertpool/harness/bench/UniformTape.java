package org.expertpool.harness.bench;

import java.util.Arrays;
import java.util.Random;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.model.ModelGeometry;

/** Routing that favours no expert: every token's are distinct and drawn uniformly, its weights equal. */
final class UniformTape {
    private UniformTape() {}

    static RoutingTape of(ModelGeometry geometry, int tokens, int forwards) {
        Random random = new Random(tokens);
        int topK = geometry.topK();
        int[] ids = new int[forwards * geometry.layers() * tokens * topK];
        float[] weights = new float[ids.length];
        Arrays.fill(weights, 1f / topK);
        for (int token = 0; token < ids.length; token += topK) {
            int[] distinct =
                    random.ints(0, geometry.experts()).distinct().limit(topK).toArray();
            System.arraycopy(distinct, 0, ids, token, topK);
        }
        return new RoutingTape(forwards, geometry.layers(), tokens * topK, ids, weights);
    }
}
