package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Optional;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.Test;

class ChunkRoutingTest {
    private static final ChunkRouting TINY = new ChunkRouting(Optional.of("tiny"));

    /** The trace once more, token by token: token t is in chunk t / 5, at t % 5. */
    @Test
    void aChunkHoldsTheTokensOfTheTraceInOrder() {
        ModelGeometry geometry = ModelPresets.load("tiny").withLayers(2);
        RoutingTape tape = TINY.tape(geometry, 5, 3);
        assertThat(tape.lanes()).isEqualTo(5 * geometry.topK());
        ForwardCursor cursor = SyntheticTraces.preset("tiny", 15, 1).cursor();
        int[] ids = new int[geometry.topK()];
        float[] weights = new float[geometry.topK()];
        for (int token = 0; cursor.next(); token++) {
            for (int layer = 0; layer < 2; layer++) {
                cursor.ids(layer, ids);
                cursor.weights(layer, weights);
                int at = tape.at(token / 5, layer) + token % 5 * geometry.topK();
                assertThat(Arrays.copyOfRange(tape.ids(), at, at + ids.length)).isEqualTo(ids);
                assertThat(Arrays.copyOfRange(tape.weights(), at, at + ids.length))
                        .isEqualTo(weights);
            }
        }
    }

    @Test
    void refusesATraceOfAnotherShape() {
        assertThatThrownBy(() -> TINY.tape(ModelPresets.load("qwen3.8-flash-next"), 5, 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage("--routing is tiny, of 3 layers of 16 experts, top-4, expected 48 layers or more of 512,"
                        + " top-10");
    }
}
