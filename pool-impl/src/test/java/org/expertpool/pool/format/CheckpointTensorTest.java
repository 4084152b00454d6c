package org.expertpool.pool.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.testdata.TinyMoe;
import org.junit.jupiter.api.Test;

/** NVFP4 tensors that another program quantised from a trained model. */
class CheckpointTensorTest {
    /** The spot values that come with the checkpoint. */
    @Test
    void readsTheDocumentedSpotValues() throws IOException {
        Nvfp4Tensor gate = TinyMoe.openOrSkip().expert(0, 0).gate();
        assertThat(Arrays.copyOf(gate.codes(), 4)).isEqualTo(HexFormat.of().parseHex("0a6e31f6"));
        assertThat(gate.scales()[0]).isEqualTo((byte) 0x6d);
        assertThat(gate.globalScale()).isEqualTo(0x1.c30c32p-14f);
        float[] published = {
            -0.01118397f, 0f, -0.04473586f, 0.04473586f, 0.00559198f, 0.01677595f, 0.04473586f, -0.0671038f
        };
        float[] weights = gate.dequantise();
        for (int i = 0; i < published.length; i++) {
            assertThat(weights[i]).isCloseTo(published[i], within(5e-9f));
        }
    }

    /** Quantising the dequantised weights with the same global scale gives the checkpoint's own bytes back. */
    @Test
    void quantiserAgreesWithTheOtherProgram() throws IOException {
        TinyMoe model = TinyMoe.openOrSkip();
        for (int layer = 0; layer < TinyMoe.LAYERS; layer += 3) {
            PlainExpert expert = model.expert(layer, 17 * (layer + 1) % TinyMoe.EXPERTS);
            for (Nvfp4Tensor tensor : new Nvfp4Tensor[] {expert.gate(), expert.up(), expert.down()}) {
                Nvfp4Tensor again =
                        Nvfp4Quantiser.quantise(tensor.dequantise(), tensor.n(), tensor.k(), tensor.globalScale());
                assertThat(again.scales()).isEqualTo(tensor.scales());
                assertThat(again.codes()).isEqualTo(tensor.codes());
            }
            assertThat(Nvfp4Quantiser.globalScale(expert.down().dequantise()))
                    .isEqualTo(expert.down().globalScale());
        }
    }
}
