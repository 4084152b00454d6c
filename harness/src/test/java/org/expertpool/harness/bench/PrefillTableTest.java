package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;

class PrefillTableTest {
    /** 276 rows of 2,764,800 bytes are 763,084,800 bytes: 13.824 ms at 55.2 GB/s, 52.627 GB/s in 14.5 ms. */
    @Test
    void countsEachMissingRowOnceAgainstTheLink() {
        LayerTime layer =
                LayerTime.of("pool-streamed", "eager", 512, -1, 2, new double[] {29_000, 29_200, 28_900, 29_000});
        PrefillTime time = new PrefillTime(layer, 236, 276, 2_764_800);
        PrefillTable table = new PrefillTable("a device", ModelPresets.load("qwen3.8-flash-next"), List.of(time));
        assertThat(table.csv())
                .isEqualTo("device,model,engine,mode,tokens,residents_per_layer,missing_per_layer,layers,forwards,"
                        + "median_ms_per_layer,p10_ms,p90_ms,h2d_gb_per_s,floor_ms,best_peer_ms\n"
                        + "a device,qwen3.8-flash-next,pool-streamed,eager,512,236,276.00,2,4,"
                        + "14.500,14.450,14.600,52.63,13.824,16.350\n");
        assertThat(table.markdown()).contains("| pool-streamed | eager |    512 |");
    }

    @Test
    void namesPeersForTheirModelAndResidentsAlone() {
        LayerTime layer = LayerTime.of("pool-streamed", "eager", 512, -1, 1, new double[] {100});
        PrefillTime time = new PrefillTime(layer, 258, 1, 1000);
        assertThat(new PrefillTable("d", ModelPresets.load("qwen3.8-flash-next"), List.of(time)).csv())
                .endsWith(",0.000,\n");
        PrefillTime cold = new PrefillTime(layer, 0, 1, 1000);
        assertThat(new PrefillTable("d", ModelPresets.load("tiny"), List.of(cold)).csv())
                .endsWith(",0.000,\n");
        assertThat(new PrefillTable("d", ModelPresets.load("qwen3.8-flash-next"), List.of(cold)).csv())
                .endsWith(",0.000,26.400\n");
    }
}
