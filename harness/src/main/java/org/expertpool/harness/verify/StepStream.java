package org.expertpool.harness.verify;

import java.util.Random;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;

/** Seeded layer calls: reuse, runs, duplicates, padding, invalid lanes, any width; and control changes between them. */
final class StepStream {
    private final PoolConfig config;
    private final Random random;
    final int[] ids;
    final float[] weights;
    int layer = -1;
    int lanes;
    boolean cleared; // whether the error is cleared before this call

    StepStream(PoolConfig config, long seed) {
        this.config = config;
        random = new Random(seed);
        ids = new int[config.stagingRows()];
        weights = new float[ids.length];
    }

    /** Draws the next call into the fields. */
    void next() {
        layer = random.nextInt(50) == 0 ? random.nextInt(config.layers()) : (layer + 1) % config.layers();
        lanes = random.nextInt(4) == 0 ? 1 + random.nextInt(ids.length) : ids.length;
        int kind = random.nextInt(8);
        int window = 1 + random.nextInt(config.experts());
        int start = random.nextInt(config.experts());
        for (int lane = 0; lane < lanes; lane++) {
            ids[lane] = switch (kind) {
                case 0 -> (start + lane) % config.experts(); // a run, often all misses
                case 1 -> (start + lane / 2) % config.experts(); // each twice
                case 2 -> random.nextInt(config.experts()); // uniform
                default -> random.nextInt(window); // reuse
            };
            weights[lane] = random.nextFloat();
        }
        if (random.nextInt(4) == 0) {
            ids[random.nextInt(lanes)] = -1;
        }
        if (random.nextInt(12) == 0) {
            ids[random.nextInt(lanes)] = random.nextBoolean() ? config.experts() : Integer.MIN_VALUE;
        }
        if (random.nextInt(12) == 0) {
            weights[random.nextInt(lanes)] = random.nextBoolean() ? Float.NaN : -1f;
        }
    }

    boolean oneIn(int odds) {
        return random.nextInt(odds) == 0;
    }

    /** Plain LRU half of the time, else every control near an edge of its range. */
    PoolControls controls() {
        if (random.nextBoolean()) {
            return PoolControls.DEFAULTS.withGate(true);
        }
        return new PoolControls(
                random.nextInt(4) == 0 ? 0 : 1,
                random.nextInt(config.stagingRows() + 1),
                1 + random.nextInt(3),
                1 + random.nextInt(3),
                random.nextInt(3));
    }
}
