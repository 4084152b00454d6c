package org.expertpool.harness.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;

/** The seed's published memory statements, and the arithmetic on a model small enough to do by hand. */
class CapacityModelTest {
    private static final double GIB = 1L << 30;
    private static final long CARD = 48L << 30;

    private final ModelGeometry qwen = ModelPresets.load("qwen3.8-flash-next");
    private final DeviceProfile card = DeviceProfile.load("rtx-pro-6000-48gib");
    private final CapacityModel capacity = new CapacityModel(qwen, CARD, card, CapacityModel.Options.SEED);

    @Test
    void usableMemoryIsTheSeedsUtilisationOfItsCard() {
        assertThat(capacity.budget(1, 0).usableBytes() / GIB).isCloseTo(0.4549 * 95, within(0.001));
    }

    @Test
    void fixedBytesAreFittedFromTheStatementAboutN258Alone() {
        long leftForKv = (long) (1.24 * GIB);
        assertThat(qwen.fixedBytes()).isCloseTo(capacity.fixedBytesFrom(258, leftForKv), within(1_000_000L));
        assertThat(capacity.budget(258, 0).freeBytes() / GIB).isCloseTo(1.24, within(0.001));
        assertThat(capacity.contextTokens(258).orElseThrow()).isLessThan(262_144);
    }

    @Test
    void n208IsPredictedToMoveWhatTheSeedSaysAndToFitItsContext() {
        double moved = (capacity.bankBytes(258) - capacity.bankBytes(208)) / GIB;
        assertThat(moved).isCloseTo(6.2, within(0.05));
        assertThat(capacity.contextTokens(208).orElseThrow()).isGreaterThan(262_144);
        assertThat(capacity.budget(208, 262_144).fits()).isTrue();
        assertThat(capacity.budget(208, 262_144).kvBytes() / GIB).isCloseTo(6.55, within(0.005));
    }

    @Test
    void aStreamRingOf128RowsFitsBesideN208AndTheLongContext() {
        var ring = new CapacityModel.Options(512, 128, 1);
        assertThat(new CapacityModel(qwen, CARD, card, ring)
                        .budget(208, 262_144)
                        .fits())
                .isTrue();
    }

    @Test
    void rowsAndContextAreInverse() {
        for (int rows : new int[] {16, 100, 208, 257}) {
            long context = capacity.contextTokens(rows).orElseThrow();
            assertThat(capacity.budget(rows, context).fits()).isTrue();
            assertThat(capacity.budget(rows, context + 1).fits()).isFalse();
            assertThat(capacity.rowsPerLayer(context)).hasValue(rows);
        }
    }

    @Test
    void arithmeticOfATinyModelByHand() {
        // Row: 27 * 64 * 64 / 16 = 6,912 bytes. Two layers, top-2, 100 bytes of KV a token, 1,000 fixed.
        var tiny = new ModelGeometry("hand", 2, 8, 2, 64, 64, 100, 0, 1000);
        var hand = new CapacityModel(tiny, 1_000_000, withContext(0, 0.5), new CapacityModel.Options(1, 3, 1));
        MemoryBudget budget = hand.budget(4, 10);
        assertThat(budget.usableBytes()).isEqualTo(500_000);
        assertThat(budget.streamRingBytes()).isEqualTo(3 * 6912);
        assertThat(budget.stagingBytes()).isEqualTo(2 * 6912);
        assertThat(budget.bankBytes()).isEqualTo(2 * 4 * 6912);
        // One token, two lanes: 2 bytes * (2 * (128 + 64) + 2 * 64) + 16 * 2 = 1,056.
        assertThat(budget.workspaceBytes()).isEqualTo(1056);
        assertThat(budget.kvBytes()).isEqualTo(1000);
        assertThat(budget.freeBytes()).isEqualTo(500_000 - 1000 - 1056 - 13 * 6912 - 1000);
        assertThat(hand.rowsPerLayer(1_000_000)).isEmpty();
        assertThat(hand.contextTokens(7)).hasValue((500_000 - 1000 - 1056 - 19 * 6912) / 100);
    }

    private DeviceProfile withContext(long contextBytes, double fraction) {
        var constants = new java.util.HashMap<>(card.constants());
        constants.put("cuda_context_bytes", new ProfileConstant(contextBytes, ProfileConstant.Kind.ASSUMED, "test"));
        constants.put("usable_fraction", new ProfileConstant(fraction, ProfileConstant.Kind.ASSUMED, "test"));
        return new DeviceProfile("test", "test", "test", constants);
    }
}
