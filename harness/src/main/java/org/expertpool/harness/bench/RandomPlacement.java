package org.expertpool.harness.bench;

import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Random;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.TableImage;

/** Placements with the same number of residents in every layer, any of its experts in its rows, in ascending order. */
final class RandomPlacement {
    private RandomPlacement() {}

    /** @param perLayer residents of a layer, 0 to n; its other rows have no owner */
    static PoolTables of(PoolConfig config, int perLayer, long seed) {
        Random random = new Random(seed);
        int[] hotRow = new int[config.keys()];
        int[] coldRow = new int[config.keys()];
        int[] rowKey = new int[config.bankRows()];
        long[] rowUse = new long[config.bankRows()];
        Arrays.fill(hotRow, PoolTables.ABSENT);
        Arrays.setAll(coldRow, key -> key % config.experts());
        Arrays.fill(rowKey, PoolTables.ABSENT);
        Arrays.fill(rowUse, config.poolRows(), rowUse.length, Long.MAX_VALUE);
        for (int layer = 0; layer < config.layers(); layer++) {
            int[] experts = random.ints(0, config.experts())
                    .distinct()
                    .limit(perLayer)
                    .sorted()
                    .toArray();
            for (int i = 0; i < perLayer; i++) {
                int row = layer * config.residentPerLayer() + i;
                int key = config.key(layer, experts[i]);
                hotRow[key] = row;
                coldRow[key] = PoolTables.ABSENT;
                rowKey[row] = key;
            }
        }
        PoolTables tables = new PoolTables(config);
        tables.read(
                new TableImage(
                        IntBuffer.wrap(hotRow),
                        IntBuffer.wrap(coldRow),
                        IntBuffer.wrap(rowKey),
                        LongBuffer.wrap(rowUse),
                        IntBuffer.wrap(new int[config.keys()])),
                0,
                0,
                0);
        return tables;
    }
}
