package org.expertpool.harness.bench;

import java.util.Arrays;
import java.util.Random;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.ReferencePlanner;

/**
 * Routing of one token a forward with the same number of misses at every layer call of an open pool: chosen against the
 * reference planner's tables, which the device's equal. Hits are drawn uniformly from the layer's resident experts, misses
 * from the others, in random order; no row is used twice within a forward.
 */
final class ImposedMisses {
    private ImposedMisses() {}

    static RoutingTape tape(PoolConfig config, int misses, int forwards, long seed) {
        ReferencePlanner planner = new ReferencePlanner(config);
        planner.controls(PoolControls.DEFAULTS.withGate(true));
        Random random = new Random(seed);
        int topK = config.topK();
        int[] ids = new int[forwards * config.layers() * topK];
        float[] weights = new float[ids.length];
        Arrays.fill(weights, 1f / topK);
        int[] chosen = new int[topK];
        float[] chosenWeights = new float[topK];
        Arrays.fill(chosenWeights, 1f / topK);
        for (int call = 0; call < forwards * config.layers(); call++) {
            int layer = call % config.layers();
            choose(planner.tables(), layer, misses, random, chosen);
            planner.step(layer, chosen, chosenWeights, topK);
            System.arraycopy(chosen, 0, ids, call * topK, topK);
        }
        return new RoutingTape(forwards, config.layers(), topK, ids, weights);
    }

    private static void choose(PoolTables tables, int layer, int misses, Random random, int[] chosen) {
        PoolConfig config = tables.config();
        Arrays.fill(chosen, -1);
        for (int lane = 0; lane < chosen.length; lane++) {
            boolean miss = lane < misses;
            int expert;
            do {
                expert = random.nextInt(config.experts());
            } while ((tables.hotRow(config.key(layer, expert)) == PoolTables.ABSENT) != miss
                    || contains(chosen, lane, expert));
            chosen[lane] = expert;
        }
        for (int lane = chosen.length - 1; lane > 0; lane--) {
            int other = random.nextInt(lane + 1);
            int moved = chosen[lane];
            chosen[lane] = chosen[other];
            chosen[other] = moved;
        }
    }

    private static boolean contains(int[] values, int count, int value) {
        for (int i = 0; i < count; i++) {
            if (values[i] == value) {
                return true;
            }
        }
        return false;
    }
}
