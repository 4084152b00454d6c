package org.expertpool.harness.verify;

import java.util.List;
import java.util.Random;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.plan.PoolConfig;

/**
 * A model on which engines are compared, with seeded experts and routing.
 *
 * @param rows N of the pools that are compared, ascending; the middle one also runs the long run
 * @param forwards of each comparison
 * @param longForwards of the long run; 0: none
 * @param planned tokens of the calls that the planner takes
 * @param wide tokens of the calls of other engines and on the partition path
 * @param activations their type
 */
record EngineShape(
        String name,
        int layers,
        int experts,
        int topK,
        ExpertRowLayout row,
        List<Integer> rows,
        int forwards,
        int longForwards,
        List<Integer> planned,
        List<Integer> wide,
        ActivationType activations) {
    private static final long SEED = 7;

    /** Chance that a lane takes an expert of the token before: enough for a pool to have hits, misses and promotions. */
    private static final double REUSE = 0.4;

    /** A model for bf16 activations. */
    EngineShape(
            String name,
            int layers,
            int experts,
            int topK,
            ExpertRowLayout row,
            List<Integer> rows,
            int forwards,
            int longForwards,
            List<Integer> planned,
            List<Integer> wide) {
        this(name, layers, experts, topK, row, rows, forwards, longForwards, planned, wide, ActivationType.BF16);
    }

    /** The same model for fp16 activations. */
    EngineShape fp16() {
        return new EngineShape(
                name + ", fp16",
                layers,
                experts,
                topK,
                row,
                rows,
                forwards,
                longForwards,
                planned,
                wide,
                ActivationType.FP16);
    }

    SyntheticExperts weights() {
        return new SyntheticExperts(SEED, layers, experts, row, activations);
    }

    PoolConfig pool(int rowsPerLayer) {
        return new PoolConfig(layers, experts, topK, rowsPerLayer, 64);
    }

    /** Tokens of one call, with weights that sum to about 1. */
    MoeCalls calls(int tokens, long seed) {
        return MoeCalls.seeded(activations, tokens, topK, experts, row.hidden(), seed);
    }

    /** Experts are distinct within a token, and half of all draws fall on a quarter of them. */
    RoutingTape tape(int tokens, int count, long seed) {
        Random random = new Random(seed);
        int lanes = tokens * topK;
        int[] ids = new int[count * layers * lanes];
        float[] weights = new float[ids.length];
        for (int token = 0; token < ids.length; token += topK) {
            int before = token - layers * lanes;
            for (int lane = token; lane < token + topK; lane++) {
                do {
                    boolean reuse = before >= 0 && random.nextDouble() < REUSE;
                    ids[lane] = reuse ? ids[before + random.nextInt(topK)] : draw(random);
                } while (contains(ids, token, lane, ids[lane]));
                weights[lane] = random.nextFloat();
            }
        }
        return new RoutingTape(count, layers, lanes, ids, weights);
    }

    private int draw(Random random) {
        return random.nextInt(random.nextBoolean() ? Math.max(topK, experts / 4) : experts);
    }

    private static boolean contains(int[] ids, int from, int to, int id) {
        for (int i = from; i < to; i++) {
            if (ids[i] == id) {
                return true;
            }
        }
        return false;
    }
}
