package org.expertpool.pool.cuda.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ShortBuffer;
import java.util.Arrays;
import org.assertj.core.data.Offset;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.testdata.TinyMoe;
import org.junit.jupiter.api.Test;

/** The twin that the kernel is held to, against what a trained model's router chose. */
class RouterTwinTest {
    /** Logits move by less when a trained model's activations are rounded to bf16. */
    private static final float WIDE = 0.03f;

    @Test
    void choosesTheTrainedModelsExpertsWhereTheMarginIsWide() throws Exception {
        TinyMoe model = TinyMoe.openOrSkip();
        short[][] matrices = new short[TinyMoe.LAYERS][];
        for (int layer = 0; layer < TinyMoe.LAYERS; layer++) {
            ShortBuffer matrix = model.router(layer);
            matrices[layer] = new short[matrix.remaining()];
            matrix.get(matrices[layer]);
        }
        int wide = 0;
        int all = 0;
        for (TinyMoe.Call call : model.golden()) {
            short[] input = new short[TinyMoe.HIDDEN];
            for (int k = 0; k < input.length; k++) {
                input[k] = Bf16.fromFloat(call.input[k]);
            }
            RouterTwin.Routing routing =
                    new RouterTwin(TinyMoe.HIDDEN, TinyMoe.EXPERTS, TinyMoe.TOP_K, input, matrices[call.layer]).route();
            float[] logits = routing.logits.clone();
            Arrays.sort(logits);
            all++;
            if (logits[TinyMoe.EXPERTS - TinyMoe.TOP_K] - logits[TinyMoe.EXPERTS - TinyMoe.TOP_K - 1] < WIDE) {
                continue;
            }
            wide++;
            assertThat(routing.ids).containsExactlyInAnyOrder(call.ids);
            for (int k = 0; k < TinyMoe.TOP_K; k++) {
                assertThat(routing.weights[indexOf(routing.ids, call.ids[k])])
                        .isEqualTo(call.weights[k], Offset.offset(0.02f));
            }
        }
        assertThat(wide).as("calls with a wide margin, of " + all).isGreaterThan(all / 5);
    }

    private static int indexOf(int[] values, int value) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] == value) {
                return i;
            }
        }
        throw new AssertionError(value + " is not there");
    }
}
