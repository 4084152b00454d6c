package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PrefillPromotionTest {
    @Test
    void theMostUsedMissingExpertsTakeTheLeastUsedRows() {
        PoolTables tables = new PoolTables(new PoolConfig(2, 6, 2, 3, 1)); // layer 1: experts 0, 1, 2 in rows 3, 4, 5
        int[] lanes = {4, 0, 1, 1, 9, 2};
        // Missing by lanes: 4 (9), 5 (2), 3 (1). Residents: 1 (0 lanes), 2 (1), 0 (4). 9 > 0, 2 > 1, 1 > 4 fails.
        assertThat(PrefillPromotion.apply(tables, 1, lanes, 8))
                .containsExactly(new PrefillPromotion.Kept(4, 4), new PrefillPromotion.Kept(5, 5));
        assertThat(tables.hotRow(6 + 0)).isEqualTo(3);
        assertThat(tables.coldRow(6 + 1)).isEqualTo(1);
        assertThat(tables.missCount(6 + 3)).isEqualTo(1);
        assertThat(tables.missCount(6 + 4)).isZero();
        assertThat(tables.rowUse(3)).isEqualTo(1);
        assertThat(tables.clock()).isEqualTo(1);
        assertThat(tables.forwards()).isZero();
        TableCheck.require(tables);
    }

    @Test
    void theLimitHoldsAndOlderRowsGoFirst() {
        PoolTables tables = new PoolTables(new PoolConfig(1, 5, 2, 3, 1));
        int[] none = {0, 0, 0, 0, 0};
        PrefillPromotion.apply(tables, 0, new int[] {1, 0, 0, 0, 0}, 0); // row 0 is younger now
        assertThat(PrefillPromotion.apply(tables, 0, new int[] {0, 0, 0, 1, 1}, 1))
                .containsExactly(new PrefillPromotion.Kept(3, 1));
        assertThat(PrefillPromotion.apply(tables, 0, none, 5)).isEmpty();
        assertThat(tables.forwards()).isEqualTo(3);
    }

    /** After any call without a limit, no missing expert has more lanes than a resident one of its layer. */
    @Test
    void withoutALimitTheLayerKeepsItsMostUsedExperts() {
        Random random = new Random(3);
        PoolConfig config = new PoolConfig(3, 12, 2, 5, 2);
        PoolTables tables = new PoolTables(config);
        Map<Integer, Integer> misses = new HashMap<>();
        for (int call = 0; call < 600; call++) {
            int layer = call % 3;
            int[] lanes = random.ints(12, 0, 1 + random.nextInt(4)).toArray();
            long[] others = rowsOfOthers(tables, layer);
            int limit = call % 2 == 0 ? 12 : random.nextInt(3);
            int[] before = residents(tables, layer);
            List<PrefillPromotion.Kept> kept = PrefillPromotion.apply(tables, layer, lanes, limit);
            TableCheck.require(tables);
            assertThat(kept).hasSizeLessThanOrEqualTo(limit);
            assertThat(residents(tables, layer)).hasSameSizeAs(before);
            assertThat(rowsOfOthers(tables, layer)).isEqualTo(others);
            int fewest = Arrays.stream(residents(tables, layer))
                    .map(e -> lanes[e])
                    .min()
                    .orElseThrow();
            for (int expert = 0; expert < 12; expert++) {
                int key = config.key(layer, expert);
                boolean resident = tables.hotRow(key) != PoolTables.ABSENT;
                if (limit == 12 && !resident) {
                    assertThat(lanes[expert]).isLessThanOrEqualTo(fewest);
                }
                boolean was = Arrays.binarySearch(before, expert) >= 0;
                if (!was && lanes[expert] > 0) {
                    misses.merge(key, 1, Integer::sum);
                }
                if (resident && !was) {
                    misses.put(key, 0);
                    int row = tables.hotRow(key);
                    assertThat(kept).contains(new PrefillPromotion.Kept(expert, row));
                }
                assertThat(tables.missCount(key)).isEqualTo(misses.getOrDefault(key, 0));
                if (resident && lanes[expert] > 0) {
                    assertThat(tables.rowUse(tables.hotRow(key))).isEqualTo(tables.clock());
                }
            }
        }
    }

    private static int[] residents(PoolTables tables, int layer) {
        return IntStream.range(0, tables.config().experts())
                .filter(e -> tables.hotRow(tables.config().key(layer, e)) != PoolTables.ABSENT)
                .toArray();
    }

    /** Owner and use of every row that another layer owns. */
    private static long[] rowsOfOthers(PoolTables tables, int layer) {
        return IntStream.range(0, tables.config().poolRows())
                .filter(row -> tables.rowKey(row) / tables.config().experts() != layer)
                .mapToLong(row -> tables.rowKey(row) * 1_000_000L + tables.rowUse(row))
                .toArray();
    }
}
