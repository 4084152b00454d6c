package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole layers over real bytes: the pool must equal all-resident to the last bit, wherever the rows lie. */
class PoolEngineTest {
    private static final int LAYERS = 3;
    private static final int EXPERTS = 12;
    private static final int TOP_K = 3;
    private static final int HIDDEN = 64;
    private static final HostSource SOURCE =
            new SyntheticExperts(42, LAYERS, EXPERTS, new ExpertRowLayout(HIDDEN, 64)).hostSource();
    private static final ResidentEngine RESIDENT = new ResidentEngine(SOURCE, TOP_K);

    private static ExpertPool pool(int rows, int maxDecodeTokens) {
        PoolConfig config = new PoolConfig(LAYERS, EXPERTS, TOP_K, rows, maxDecodeTokens);
        return ExpertPool.installPoisoned(PoolRequest.onHost(config, SOURCE));
    }

    /** Random widths from one token to past the planner, duplicates, invalid lanes, controls and gate flips. */
    @ParameterizedTest
    @CsvSource({"3, 1, 1", "3, 4, 2", "5, 2, 3", "8, 4, 4", "11, 1, 5", "99, 3, 6"})
    void equalsResidentOverRandomStreams(int rows, int maxDecodeTokens, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ExpertPool pool = pool(rows, maxDecodeTokens);
        PoolEngine engine = new PoolEngine(pool);
        pool.openGate(RowCheck.ALL);
        int planned = 0;
        for (int forward = 0; forward < 60; forward++) {
            int tokens = random.nextInt(1, maxDecodeTokens + 3);
            planned += tokens <= maxDecodeTokens ? 1 : 0;
            for (int layer = 0; layer < LAYERS; layer++) {
                changeControls(pool, random);
                int[] ids = new int[tokens * TOP_K];
                float[] weights = new float[ids.length];
                EngineFixtures.route(ids, weights, TOP_K, EXPERTS, random);
                spoil(ids, weights, random);
                short[] activations = EngineFixtures.activations(tokens * HIDDEN, random);
                assertThat(engine.forward(layer, activations, ids, weights))
                        .as("forward %d layer %d", forward, layer)
                        .isEqualTo(RESIDENT.forward(layer, activations, ids, weights));
                pool.clearError();
            }
        }
        pool.check(RowCheck.ALL);
        assertThat(planned).as("forwards of both kinds").isBetween(5, 55);
    }

    private static void changeControls(ExpertPool pool, SplittableRandom random) {
        switch (random.nextInt(12)) {
            case 0 -> pool.control(Map.of("gate", random.nextInt(2)));
            case 1 -> pool.control(Map.of("promoteLimit", random.nextInt(4)));
            case 2 -> pool.control(Map.of("promoteInterval", random.nextInt(1, 4)));
            case 3 -> pool.control(Map.of("promoteMinMisses", random.nextInt(1, 4)));
            case 4 -> pool.control(Map.of("protectRecent", random.nextInt(3)));
            default -> {}
        }
    }

    private static void spoil(int[] ids, float[] weights, SplittableRandom random) {
        int lane = random.nextInt(ids.length);
        switch (random.nextInt(10)) {
            case 0 -> ids[lane] = -1;
            case 1 -> ids[lane] = EXPERTS;
            case 2 -> ids[lane] = Integer.MAX_VALUE;
            case 3 -> weights[lane] = Float.NaN;
            case 4 -> weights[lane] = -1f;
            case 5 -> ids[lane] = ids[0];
            default -> {}
        }
    }

    /** A decode call that misses 0, 1, 2, ... of its experts, each way a miss can be served. */
    @Test
    void equalsResidentForEveryNumberOfMisses() {
        SplittableRandom random = new SplittableRandom(9);
        short[] activations = EngineFixtures.activations(HIDDEN, random);
        float[] weights = {0.5f, 0.3f, 0.2f};
        for (int misses = 0; misses <= TOP_K; misses++) {
            int[] ids = {0, 1, 2};
            for (int i = 0; i < misses; i++) {
                ids[i] = EXPERTS - 1 - i;
            }
            short[] expected = RESIDENT.forward(1, activations, ids, weights);
            for (boolean open : new boolean[] {false, true}) {
                ExpertPool pool = pool(4, 1);
                if (open) {
                    pool.openGate();
                }
                assertThat(new PoolEngine(pool).forward(1, activations, ids, weights))
                        .as("%d misses, gate %s", misses, open)
                        .isEqualTo(expected);
                int lastKey = pool.config().key(1, EXPERTS - 1);
                assertThat(pool.tables().hotRow(lastKey) >= 0)
                        .as("promoted, or staged alone")
                        .isEqualTo(open && misses > 0);
            }
        }
    }

    /** The same call in the decode path of a wide planner and in the partition path of a narrow one. */
    @Test
    void decodeAndPartitionPathAgree() {
        SplittableRandom random = new SplittableRandom(10);
        int[] ids = new int[4 * TOP_K];
        float[] weights = new float[ids.length];
        EngineFixtures.route(ids, weights, TOP_K, EXPERTS, random);
        short[] activations = EngineFixtures.activations(4 * HIDDEN, random);
        ExpertPool narrow = pool(5, 1);
        assertThat(new PoolEngine(narrow).forward(0, activations, ids, weights))
                .isEqualTo(new PoolEngine(pool(5, 4)).forward(0, activations, ids, weights))
                .isEqualTo(RESIDENT.forward(0, activations, ids, weights));
        assertThat(narrow.tables().clock())
                .as("the partition path plans nothing")
                .isZero();
    }

    /** A lane does not depend on its batch: a token alone gives the bits that it gives among others. */
    @Test
    void everyTokenIsIndependentOfItsBatch() {
        SplittableRandom random = new SplittableRandom(11);
        int tokens = 40;
        int[] ids = new int[tokens * TOP_K];
        float[] weights = new float[ids.length];
        EngineFixtures.route(ids, weights, TOP_K, EXPERTS, random);
        short[] activations = EngineFixtures.activations(tokens * HIDDEN, random);
        short[] together = RESIDENT.forward(2, activations, ids, weights);
        for (int token = 0; token < tokens; token++) {
            short[] alone = RESIDENT.forward(
                    2,
                    Arrays.copyOfRange(activations, token * HIDDEN, (token + 1) * HIDDEN),
                    Arrays.copyOfRange(ids, token * TOP_K, (token + 1) * TOP_K),
                    Arrays.copyOfRange(weights, token * TOP_K, (token + 1) * TOP_K));
            assertThat(alone).isEqualTo(Arrays.copyOfRange(together, token * HIDDEN, (token + 1) * HIDDEN));
        }
    }

    /** Rows that change places without the tables knowing must show; these tests would be blind otherwise. */
    @Test
    void shuffledRowsWithoutRemapAreDetected() {
        SplittableRandom random = new SplittableRandom(12);
        short[] activations = EngineFixtures.activations(HIDDEN, random);
        int[] ids = {0, 1, 2};
        float[] weights = {0.5f, 0.3f, 0.2f};
        ExpertPool pool = pool(4, 1);
        int first = pool.tables().hotRow(pool.config().key(0, 0));
        int second = pool.tables().hotRow(pool.config().key(0, 1));
        ByteBuffer kept = ByteBuffer.allocate((int) pool.bank().rowBytes())
                .put(pool.bank().row(first))
                .flip();
        pool.bank().write(first, pool.bank().row(second));
        pool.bank().write(second, kept);
        assertThat(new PoolEngine(pool).forward(0, activations, ids, weights))
                .isNotEqualTo(RESIDENT.forward(0, activations, ids, weights));
        assertThatThrownBy(() -> pool.openGate(RowCheck.ALL)).isInstanceOf(PoolFailureException.class);
    }

    /** A stale or poisoned row that is read by mistake must show as well. */
    @Test
    void poisonedRowsAreDetected() {
        SplittableRandom random = new SplittableRandom(13);
        short[] activations = EngineFixtures.activations(HIDDEN, random);
        int[] ids = {0, 1, 2};
        float[] weights = {0.5f, 0.3f, 0.2f};
        ExpertPool pool = pool(4, 1);
        ByteBuffer staging = pool.bank().row(pool.config().poolRows());
        pool.bank().write(pool.tables().hotRow(pool.config().key(0, 2)), staging);
        assertThat(new PoolEngine(pool).forward(0, activations, ids, weights))
                .isNotEqualTo(RESIDENT.forward(0, activations, ids, weights));
    }

    /** Swaps while the gate is closed move bytes and tables together. */
    @Test
    void equalsResidentAfterSwaps() {
        SplittableRandom random = new SplittableRandom(14);
        ExpertPool pool = pool(5, 1);
        pool.swap(0, 1, 7);
        pool.swap(0, 4, 1);
        pool.swap(2, 0, 11);
        for (int layer = 0; layer < LAYERS; layer++) {
            short[] activations = EngineFixtures.activations(HIDDEN, random);
            int[] ids = {7, 1, 4};
            float[] weights = {0.4f, 0.4f, 0.2f};
            assertThat(new PoolEngine(pool).forward(layer, activations, ids, weights))
                    .isEqualTo(RESIDENT.forward(layer, activations, ids, weights));
        }
    }

    /** Bug 24 and pool-semantics 8: invalid lanes contribute nothing, and no NaN of theirs reaches another lane. */
    @Test
    void invalidLanesContributeNothing() {
        SplittableRandom random = new SplittableRandom(15);
        short[] activations = EngineFixtures.activations(2 * HIDDEN, random);
        int[] clean = {3, -1, -1, 5, 6, 7};
        float[] weights = {0.5f, 0.3f, 0.2f, 0.5f, 0.3f, 0.2f};
        short[] expected = RESIDENT.forward(0, activations, clean, weights);
        for (int bad : new int[] {-2, EXPERTS, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            ExpertPool pool = pool(4, 2);
            int[] ids = {3, bad, 9, 5, 6, 7};
            float[] nan = {0.5f, 0.3f, Float.NaN, 0.5f, 0.3f, 0.2f};
            assertThat(new PoolEngine(pool).forward(0, activations, ids, nan)).isEqualTo(expected);
            assertThatThrownBy(pool::synchronise).isInstanceOf(PoolFailureException.class);
            pool.clearError();
        }
        // A token whose router row is NaN, with the same expert in every slot, and whose activations are NaN.
        Arrays.fill(activations, 0, HIDDEN, (short) 0x7FC0);
        int[] same = {5, 5, 5, 5, 6, 7};
        float[] nanRow = {Float.NaN, Float.NaN, Float.NaN, 0.5f, 0.3f, 0.2f};
        for (int width : new int[] {1, 2}) {
            short[] outputs = new PoolEngine(pool(4, width)).forward(0, activations, same, nanRow);
            assertThat(Arrays.copyOf(outputs, HIDDEN)).containsOnly(0);
            assertThat(Arrays.copyOfRange(outputs, HIDDEN, 2 * HIDDEN))
                    .isEqualTo(Arrays.copyOfRange(expected, HIDDEN, 2 * HIDDEN));
        }
    }

    /** Duplicate experts of one token are planned once and each counted. */
    @Test
    void duplicateExpertsEachCount() {
        SplittableRandom random = new SplittableRandom(16);
        short[] activations = EngineFixtures.activations(HIDDEN, random);
        int[] ids = {9, 9, 9};
        float[] weights = {0.25f, 0.25f, 0.5f};
        ExpertPool pool = pool(4, 1);
        double[] reference = new Float64Layer(SOURCE, TOP_K)
                .forward(0, EngineFixtures.toDoubles(activations), new int[] {9, -1, -1}, new float[] {1, 0, 0});
        double[] outputs = EngineFixtures.toDoubles(new PoolEngine(pool).forward(0, activations, ids, weights));
        assertThat(Float64Layer.relativeError(outputs, reference)).isLessThan(5e-3);
    }

    @Test
    void refusesWrongLengths() {
        assertThatThrownBy(() -> RESIDENT.forward(0, new short[63], new int[3], new float[3]))
                .hasMessage("activations has 63 values, expected 64");
        assertThatThrownBy(() -> RESIDENT.forward(0, new short[64], new int[4], new float[4]))
                .hasMessage("ids has 4 values, expected 3");
        ExpertPool pool = pool(4, 2);
        pool.openGate();
        assertThatThrownBy(() -> new PoolEngine(pool).forward(0, new short[64], new int[3], new float[6]))
                .hasMessage("weights has 6 values, expected 3");
        assertThat(pool.tables().clock()).as("judged before the step").isZero();
    }
}
