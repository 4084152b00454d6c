package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;

class PrefillTableTest {
    /** 276 rows of 2,764,800 bytes are 763,084,800 bytes: 13.824 ms at 55.2 GB/s, 52.627 GB/s in 14.5 ms. */
    @Test
    void countsEachMissingRowOnceAgainstTheLink() {
        LayerTime layer =
                LayerTime.of("pool-streamed", "eager", 512, -1, 2, new double[] {29_000, 29_200, 28_900, 29_000});
        PrefillTime time = new PrefillTime(layer, "uniform", 236, 276, 2_764_800);
        PrefillTable table = new PrefillTable(
                "a device", ModelPresets.load("qwen3.8-flash-next"), ActivationType.BF16, List.of(time), List.of());
        assertThat(table.csv())
                .isEqualTo(
                        "device,model,engine,mode,routing,tokens,residents_per_layer,missing_per_layer,layers,forwards,"
                                + "median_ms_per_layer,p10_ms,p90_ms,h2d_gb_per_s,floor_ms,best_peer_ms,activations\n"
                                + "a device,qwen3.8-flash-next,pool-streamed,eager,uniform,512,236,276.00,2,4,"
                                + "14.500,14.450,14.600,52.63,13.824,16.350,bf16\n");
        assertThat(table.markdown()).contains("| pool-streamed | eager | uniform |    512 |");
    }

    @Test
    void namesPeersForTheirModelAndResidentsAlone() {
        LayerTime layer = LayerTime.of("pool-streamed", "eager", 512, -1, 1, new double[] {100});
        PrefillTime time = new PrefillTime(layer, "uniform", 258, 1, 1000);
        assertThat(new PrefillTable(
                                "d",
                                ModelPresets.load("qwen3.8-flash-next"),
                                ActivationType.BF16,
                                List.of(time),
                                List.of())
                        .csv())
                .endsWith(",0.000,,bf16\n");
        PrefillTime cold = new PrefillTime(layer, "uniform", 0, 1, 1000);
        assertThat(new PrefillTable("d", ModelPresets.load("tiny"), ActivationType.BF16, List.of(cold), List.of())
                        .csv())
                .endsWith(",0.000,,bf16\n");
        assertThat(new PrefillTable(
                                "d",
                                ModelPresets.load("qwen3.8-flash-next"),
                                ActivationType.BF16,
                                List.of(cold),
                                List.of())
                        .csv())
                .endsWith(",0.000,26.400,bf16\n");
        assertThat(new PrefillTable(
                                "d",
                                ModelPresets.load("qwen3.8-flash-next"),
                                ActivationType.FP16,
                                List.of(cold),
                                List.of())
                        .csv())
                .endsWith(",0.000,,fp16\n");
    }

    @Test
    void namesNoPeersForOtherRouting() {
        LayerTime layer = LayerTime.of("pool-streamed", "eager", 512, -1, 1, new double[] {100});
        PrefillTime cold = new PrefillTime(layer, "prose", 0, 1, 1000);
        assertThat(new PrefillTable(
                                "d",
                                ModelPresets.load("qwen3.8-flash-next"),
                                ActivationType.BF16,
                                List.of(cold),
                                List.of())
                        .csv())
                .endsWith(",0.000,,bf16\n");
    }

    /** Constant times have intervals of no width. Of 8 rows a layer 2 are missing: a quarter of 400 us is 100 of 125. */
    @Test
    void comparesTheStreamedWayWithTheOthersAndTheLink() {
        PrefillRatios ratios = PrefillRatios.of(
                "uniform",
                512,
                6,
                0.25,
                new double[] {400, 400, 400},
                new double[] {125, 125, 125},
                new double[] {250, 250, 250},
                new double[] {500, 500, 500});
        PrefillTable table =
                new PrefillTable("d", ModelPresets.load("tiny"), ActivationType.BF16, List.of(), List.of(ratios));
        assertThat(table.ratiosCsv())
                .isEqualTo("device,model,routing,tokens,residents_per_layer,rounds,"
                        + "host_view_over_streamed,host_view_low,host_view_high,uva_over_streamed,uva_low,uva_high,"
                        + "link_share,link_share_low,link_share_high,activations\n"
                        + "d,tiny,uniform,512,6,3,2.000,2.000,2.000,4.000,4.000,4.000,0.800,0.800,0.800,bf16\n");
        assertThat(table.markdown()).contains(" 0.800 |");
    }
}
