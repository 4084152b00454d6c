package org.expertpool.harness.bench.device;

import java.util.Arrays;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.plan.PoolConfig;

/**
 * Routing of one token a forward that repeats for ever with the same number of misses a layer call: each layer takes its
 * hits in turn from a few hot experts, which come up often enough to stay, and its misses in turn from all others, more
 * than there are rows, so that each has gone when it comes up again. Within a turn no expert is selected twice.
 */
final class CyclicRouting {
    private final PoolConfig config;
    private final int misses;
    private final int hot;
    private final int cold;

    /** @param misses of each layer call, 0 to topK */
    CyclicRouting(PoolConfig config, int misses) {
        if (misses < 0 || misses > config.topK()) {
            throw new IllegalArgumentException("misses is " + misses + ", expected 0 to " + config.topK());
        }
        this.config = config;
        this.misses = misses;
        // A power of two: with 512 experts both turns then meet again soon.
        int least = Math.max(1, config.topK() - misses);
        hot = Math.max(Integer.highestOneBit(Math.max(1, config.rows() / 4)), Integer.highestOneBit(2 * least - 1));
        cold = config.experts() - hot;
    }

    /** Forwards after which both turns begin anew. */
    int period() {
        int hotTurn = turn(hot, config.topK() - misses);
        int coldTurn = turn(cold, misses);
        return Math.multiplyExact(hotTurn / gcd(hotTurn, coldTurn), coldTurn);
    }

    private static int turn(int experts, int taken) {
        return taken == 0 ? 1 : experts / gcd(experts, taken);
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    /** One period. */
    RoutingTape tape() {
        int forwards = period();
        int topK = config.topK();
        int[] ids = new int[Math.multiplyExact(forwards, config.layers() * topK)];
        float[] weights = new float[ids.length];
        Arrays.fill(weights, 1f / topK);
        int at = 0;
        for (int forward = 0; forward < forwards; forward++) {
            for (int layer = 0; layer < config.layers(); layer++) {
                for (int lane = 0; lane < topK; lane++) {
                    int hits = topK - misses;
                    ids[at++] = lane < hits
                            ? (int) (((long) forward * hits + lane) % hot)
                            : hot + (int) (((long) forward * misses + lane - hits) % cold);
                }
            }
        }
        return new RoutingTape(forwards, config.layers(), topK, ids, weights);
    }
}
