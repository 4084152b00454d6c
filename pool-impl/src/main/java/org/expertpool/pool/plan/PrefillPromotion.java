package org.expertpool.pool.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fills the pool from what a wide call brings over the link anyway (ours; the specification's partition path promotes
 * nothing). The rows of a layer go to its experts with the most lanes in the call; no other layer's rows change.
 *
 * <p>A call counts as a step with the gate open: the clock advances by one, on layer 0 forwards do too, and every touched
 * resident expert's row is stamped. Missing experts come in order of (lanes descending, expert ascending), the layer's
 * residents in order of (lanes ascending, rowUse ascending, row ascending); pair by pair, the missing one takes the row
 * while it has more lanes than the resident and the limit is not reached. Every other missing expert's miss is counted.
 */
public final class PrefillPromotion {
    /** An expert of the layer that stays, and the pool row that it takes. */
    public record Kept(int expert, int row) {}

    private PrefillPromotion() {}

    /**
     * Applies one call to the tables.
     *
     * @param laneCounts valid lanes of each expert of the layer, [experts]
     * @param limit most experts that stay, at least 0
     * @return those that stay, in the order in which they were chosen
     */
    public static List<Kept> apply(PoolTables tables, int layer, int[] laneCounts, int limit) {
        PoolConfig config = tables.config();
        tables.clock++;
        if (layer == 0) {
            tables.forwards++;
        }
        List<Integer> missing = new ArrayList<>();
        List<Integer> residents = new ArrayList<>();
        for (int expert = 0; expert < config.experts(); expert++) {
            int key = config.key(layer, expert);
            if (tables.hotRow[key] != PoolTables.ABSENT) {
                residents.add(expert);
            } else if (laneCounts[expert] > 0) {
                missing.add(expert);
                tables.missCount[key]++;
            }
        }
        missing.sort(Comparator.comparingInt(expert -> -laneCounts[expert])); // stable: experts ascend
        residents.sort(Comparator.<Integer>comparingInt(expert -> laneCounts[expert])
                .thenComparingLong(expert -> tables.rowUse[rowOf(tables, layer, expert)])
                .thenComparingInt(expert -> rowOf(tables, layer, expert)));
        int pairs = Math.min(Math.min(missing.size(), residents.size()), limit);
        int stay = (int) IntStream.range(0, pairs)
                .takeWhile(i -> laneCounts[missing.get(i)] > laneCounts[residents.get(i)])
                .count();
        for (int expert : residents) {
            if (laneCounts[expert] > 0) {
                tables.rowUse[rowOf(tables, layer, expert)] = tables.clock;
            }
        }
        List<Kept> kept = new ArrayList<>();
        for (int i = 0; i < stay; i++) {
            int row = rowOf(tables, layer, residents.get(i));
            int key = config.key(layer, missing.get(i));
            tables.evict(config.key(layer, residents.get(i)));
            tables.own(key, row);
            tables.rowUse[row] = tables.clock;
            tables.missCount[key] = 0;
            kept.add(new Kept(missing.get(i), row));
        }
        return kept;
    }

    private static int rowOf(PoolTables tables, int layer, int expert) {
        return tables.hotRow[tables.config().key(layer, expert)];
    }
}
