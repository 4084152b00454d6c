package org.expertpool.pool.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.ReferencePlanner;
import org.junit.jupiter.api.Test;

class PartitionTest {
    @Test
    void everyValidLaneIsInExactlyOnePart() {
        PoolConfig config = new PoolConfig(3, 32, 4, 9, 2);
        ReferencePlanner planner = new ReferencePlanner(config);
        planner.control(Map.of("gate", 1));
        Random random = new Random(5);
        float[] weights = {1, 1, 1, 1, 1, 1, 1, 1};
        for (int round = 0; round < 300; round++) {
            int layer = round % 3;
            planner.step(layer, random.ints(8, 0, 32).toArray(), weights, 8);
            int[] safeIds = random.ints(500, -1, 32).toArray();
            String before = planner.tables().sha256();
            Partition partition = Partition.split(planner.tables(), layer, safeIds);
            assertThat(planner.tables().sha256()).isEqualTo(before);
            LaneBlocks bank = LaneBlocks.align(partition.bankIds(), 500, 32, 8);
            LaneBlocks host = LaneBlocks.align(partition.hostIds(), 500, 32, 8);
            int[] seen = new int[500];
            countLanes(bank, seen);
            countLanes(host, seen);
            for (int lane = 0; lane < 500; lane++) {
                assertThat(seen[lane]).isEqualTo(safeIds[lane] >= 0 ? 1 : 0);
            }
            int[] bankRows = RowRemap.rows(bank, partition.bankRowByExpert());
            for (int block = 0; block < bank.liveBlocks(); block++) {
                int owner = planner.tables().rowKey(bankRows[block]);
                assertThat(owner).isEqualTo(config.key(layer, bank.blockExperts()[block]));
            }
            int[] hostRows = RowRemap.rows(host, partition.hostRowByExpert());
            assertThat(Arrays.copyOf(hostRows, host.liveBlocks()))
                    .containsExactly(Arrays.copyOf(host.blockExperts(), host.liveBlocks()));
        }
    }

    private static void countLanes(LaneBlocks blocks, int[] seen) {
        for (int lane : blocks.sortedLanes()) {
            if (lane < seen.length) {
                seen[lane]++;
            }
        }
    }
}
