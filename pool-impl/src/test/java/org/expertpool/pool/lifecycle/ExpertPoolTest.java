package org.expertpool.pool.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Random;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.route.Partition;
import org.junit.jupiter.api.Test;

class ExpertPoolTest {
    private static final PoolConfig CONFIG = new PoolConfig(3, 12, 2, 4, 3);

    private final HostSource source = new PatternSource(3, 12);
    private final ExpertPool pool = ExpertPool.installPoisoned(PoolRequest.onHost(CONFIG, source));

    @Test
    void installsTheFirstRowsOfEachLayerWithTheGateClosed() {
        assertThat(pool.controls().gateOpen()).isFalse();
        for (int row = 0; row < CONFIG.poolRows(); row++) {
            assertThat(pool.bank().row(row)).isEqualTo(source.row(row / 4, row % 4));
        }
        pool.check(RowCheck.ALL);
    }

    /** After any step, every lane's row holds the bytes of its expert, and no row holds what it must not. */
    @Test
    void routesLeadToTheBytesOfTheirExperts() {
        pool.openGate();
        Random random = new Random(3);
        int[] ids = new int[6];
        float[] weights = new float[6];
        for (int step = 0; step < 600; step++) {
            if (step % 40 == 39) {
                pool.control(Map.of("gate", random.nextInt(2), "promoteLimit", random.nextInt(3)));
            }
            int lanes = 1 + random.nextInt(6);
            for (int lane = 0; lane < lanes; lane++) {
                ids[lane] = random.nextInt(14) - 1;
                weights[lane] = random.nextFloat();
            }
            int layer = step % 3;
            StepPlan plan = pool.step(layer, ids, weights, lanes);
            for (int lane = 0; lane < lanes; lane++) {
                if (plan.safeIds()[lane] >= 0) {
                    assertThat(pool.bank().row(plan.routes()[lane])).isEqualTo(source.row(layer, ids[lane]));
                }
            }
            for (int row = CONFIG.poolRows() + plan.staged(); row < CONFIG.bankRows(); row++) {
                assertThat(pool.bank().row(row).getLong(0)).isEqualTo(-1L);
            }
        }
        pool.clearError();
        pool.check(RowCheck.ALL);
    }

    @Test
    void aWrongByteInTheBankIsFatalBeforeTheGateOpens() {
        ByteBuffer wrong = ByteBuffer.allocate((int) pool.bank().rowBytes())
                .put(source.row(1, 2))
                .flip();
        wrong.put(5000, (byte) ~wrong.get(5000));
        pool.bank().write(6, wrong);
        assertThatThrownBy(() -> pool.openGate(RowCheck.ALL))
                .isInstanceOf(PoolFailureException.class)
                .hasMessage("row 6 (layer 1, expert 2) differs from its host row at byte 5000 of 6912");
        assertThat(pool.controls().gateOpen()).isFalse();
    }

    @Test
    void aSampleCoversEveryLayer() {
        RowCheck one = new RowCheck(1, 9);
        for (int layer = 0; layer < 3; layer++) {
            ExpertPool broken = ExpertPool.install(PoolRequest.onHost(CONFIG, source));
            for (int row = 4 * layer; row < 4 * layer + 4; row++) {
                broken.bank().fill(row, (byte) 0);
            }
            assertThatThrownBy(() -> broken.openGate(one)).hasMessageContaining("(layer " + layer + ", expert ");
        }
    }

    @Test
    void aCopyThatFailsNamesRowLayerAndExpert() {
        HostSource truncated = new PatternSource(3, 12) {
            @Override
            public ByteBuffer row(int layer, int expert) {
                ByteBuffer row = super.row(layer, expert);
                return layer == 2 && expert == 1 ? row.slice(0, 100) : row;
            }
        };
        assertThatThrownBy(() -> ExpertPool.install(PoolRequest.onHost(CONFIG, truncated)))
                .isInstanceOf(PoolFailureException.class)
                .hasMessage("copy to row 9 of layer 2 expert 1 failed: source of row 9 has 100 bytes, expected 6912");
    }

    @Test
    void theGateOpensOnlyThroughTheCheck() {
        assertThatThrownBy(() -> pool.control(Map.of("gate", 1))).isInstanceOf(IllegalStateException.class);
        pool.openGate();
        pool.control(Map.of("gate", 0));
        pool.control(Map.of("gate", 1));
        assertThat(pool.controls().gateOpen()).isTrue();
        assertThatThrownBy(() -> pool.control(Map.of("promoteLimit", 1, "promoteInterval", 0)))
                .isInstanceOf(BadInputException.class);
        assertThat(pool.controls().promoteLimit()).isZero();
    }

    @Test
    void swapsOneExpertForAnotherWhileClosed() {
        pool.openGate();
        pool.step(1, new int[] {7, 7}, new float[] {1, 1}, 2); // takes row 0, as the oldest with the lowest index
        pool.closeGate();
        PoolTables tables = pool.tables();
        long use = tables.rowUse(5);
        pool.swap(1, 1, 9);
        assertThat(pool.bank().row(5)).isEqualTo(source.row(1, 9));
        assertThat(tables.rowKey(5)).isEqualTo(12 + 9);
        assertThat(tables.coldRow(12 + 1)).isEqualTo(1);
        assertThat(tables.rowUse(5)).isEqualTo(use);
        pool.openGate(RowCheck.ALL);
        assertThatThrownBy(() -> pool.swap(1, 9, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void invalidRoutingIsReportedAtTheNextSynchronisationUntilCleared() {
        pool.synchronise();
        pool.step(0, new int[] {0, 12}, new float[] {1, 1}, 2);
        pool.step(1, new int[] {0, 1}, new float[] {1, 1}, 2);
        assertThatThrownBy(pool::synchronise)
                .isInstanceOf(PoolFailureException.class)
                .hasMessageContaining("invalid routing");
        assertThatThrownBy(pool::synchronise).isInstanceOf(PoolFailureException.class);
        pool.clearError();
        pool.synchronise();
    }

    @Test
    void aWideCallChangesNothingButTheErrorFlag() {
        pool.openGate();
        String tables = pool.tables().sha256();
        int[] ids = new Random(1).ints(1000, 0, 12).toArray();
        float[] weights = new float[1000];
        ids[500] = -7;
        Partition partition = pool.partition(2, ids, weights, 1000);
        assertThat(pool.tables().sha256()).isEqualTo(tables);
        assertThat(pool.tables().clock()).isZero();
        assertThat(pool.tables().error()).isEqualTo(1);
        assertThat(partition.bankIds()[500]).isEqualTo(-1);
        assertThat(partition.hostIds()[500]).isEqualTo(-1);
    }
}
