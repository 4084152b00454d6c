package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hits on streams of single experts against caches that nobody here wrote. */
class OtherSoftwareTest {
    private static final int EXPERTS = 2000;
    private static final int REQUESTS = 300_000;
    private static final int CAFFEINE_RUNS = 11;

    /** Zipf with exponent 1; which id has which popularity is random. */
    private static int[] zipf(long seed) {
        Random random = new Random(seed);
        double[] cumulative = new double[EXPERTS];
        double sum = 0;
        for (int rank = 0; rank < EXPERTS; rank++) {
            sum += 1.0 / (rank + 1);
            cumulative[rank] = sum;
        }
        int[] names = random.ints(0, EXPERTS).distinct().limit(EXPERTS).toArray();
        int[] stream = new int[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) {
            int found = Arrays.binarySearch(cumulative, random.nextDouble() * sum);
            stream[i] = names[Math.min(EXPERTS - 1, found < 0 ? -found - 1 : found)];
        }
        return stream;
    }

    private static long hits(String policy, int[] stream, int rows) {
        PoolConfig pool = new PoolConfig(1, EXPERTS, 1, rows, 1);
        PlacementPolicy placement = Policies.named(policy)
                .create(PolicySetup.of(pool, Scope.LAYER, Initial.EMPTY, PoolControls.DEFAULTS.withGate(true)));
        StepTally tally = new StepTally();
        for (int expert : stream) {
            placement.step(PolicyTrace.event(0, expert), tally);
        }
        return tally.hits;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100, 1500})
    void lruEqualsLinkedHashMapInAccessOrder(int rows) {
        int[] stream = zipf(rows);
        Map<Integer, Integer> map = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
                return size() > rows;
            }
        };
        long hits = 0;
        for (int expert : stream) {
            hits += map.get(expert) != null ? 1 : 0;
            map.putIfAbsent(expert, expert);
        }
        assertThat(hits("lru", stream, rows)).isEqualTo(hits);
    }

    /** FIFO is the same map in insertion order. */
    @Test
    void fifoEqualsLinkedHashMapInInsertionOrder() {
        int[] stream = zipf(5);
        Map<Integer, Integer> map = new LinkedHashMap<>();
        long hits = 0;
        for (int expert : stream) {
            if (map.containsKey(expert)) {
                hits++;
                continue;
            }
            if (map.size() == 300) {
                map.remove(map.keySet().iterator().next());
            }
            map.put(expert, expert);
        }
        assertThat(hits("fifo", stream, 300)).isEqualTo(hits);
    }

    /**
     * Caffeine adapts its window, counts in a sketch and hashes with a seed of its own, so near is all that can be asked for:
     * at 250 and 500 rows, just below a power of two, its own hit ratio moves by more than a point from run to run (79.6 to
     * 80.8 % at 500, where exact counts hit 81.3 %), at 100 and 1000 rows mostly by a tenth, and now and then a run goes astray
     * (60.0 % where others hit 61.7 %): the median of several is compared.
     */
    @ParameterizedTest
    @ValueSource(ints = {100, 1000})
    void wTinyLfuIsWithinAPointOfCaffeine(int rows) {
        int[] stream = zipf(2);
        double[] runs = IntStream.range(0, CAFFEINE_RUNS)
                .mapToDouble(run -> 100.0 * caffeineHits(stream, rows) / REQUESTS)
                .sorted()
                .toArray();
        double caffeine = runs[CAFFEINE_RUNS / 2];
        assertThat(100.0 * hits("w-tinylfu", stream, rows) / REQUESTS).isCloseTo(caffeine, within(1.0));
        assertThat(100.0 * hits("lru", stream, rows) / REQUESTS)
                .as("LRU is not, so the closeness says something")
                .isLessThan(caffeine - 2);
    }

    private static long caffeineHits(int[] stream, int rows) {
        Cache<Integer, Integer> cache =
                Caffeine.newBuilder().maximumSize(rows).executor(Runnable::run).build();
        long hits = 0;
        for (int expert : stream) {
            if (cache.getIfPresent(expert) != null) {
                hits++;
            } else {
                cache.put(expert, expert);
            }
        }
        return hits;
    }
}
