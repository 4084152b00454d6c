package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefillChunksTest {
    private static final TraceShape SHAPE = new TraceShape(2, 9, 2, false);

    @Test
    void theFirstTokensOfASequenceAreJoinedLayerByLayer() {
        assertThat(joined(3, 99))
                .containsExactly(
                        "start prefill at 0: [0, 1, 1, 2, 2, 3] [1, 0, 2, 1, 3, 2]",
                        "decode at 3: [3, 4] [4, 3]",
                        "decode at 4: [4, 5] [5, 4]",
                        "start prefill at 0: [5, 6, 6, 7] [6, 5, 7, 6]");
    }

    @Test
    void aSequenceShorterThanTheChunkIsOneChunk() {
        assertThat(joined(8, 99))
                .containsExactly(
                        "start prefill at 0: [0, 1, 1, 2, 2, 3, 3, 4, 4, 5] [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]",
                        "start prefill at 0: [5, 6, 6, 7] [6, 5, 7, 6]");
    }

    @Test
    void noMoreForwardsAreWrittenThanAskedFor() {
        assertThat(joined(3, 2)).hasSize(2);
        assertThat(joined(8, 1)).hasSize(1);
        assertThat(joined(1, 99)).hasSize(7).first().isEqualTo("start prefill at 0: [0, 1] [1, 0]");
    }

    @Test
    void aTraceThatHasChunksAlreadyIsRefused() {
        InMemoryTrace.Builder chunked = InMemoryTrace.builder(SHAPE, "chunked");
        PrefillChunks.copy(trace(), 3, 99, chunked);
        assertThatThrownBy(() -> PrefillChunks.copy(chunked.build(), 3, 99, (header, ids, weights) -> {}))
                .hasMessageContaining("forward 0 has 3 tokens");
    }

    /** Sequences of 5 and 2 tokens; token t has experts t and t+1, in layer 1 the other way round. */
    private static InMemoryTrace trace() {
        InMemoryTrace.Builder trace = InMemoryTrace.builder(SHAPE, "test");
        for (int token = 0; token < 7; token++) {
            int position = token < 5 ? token : token - 5;
            trace.decode(position == 0, position, token, token + 1, token + 1, token);
        }
        return trace.build();
    }

    private static List<String> joined(int chunkTokens, long forwards) {
        InMemoryTrace.Builder joined = InMemoryTrace.builder(SHAPE, "joined");
        PrefillChunks.copy(trace(), chunkTokens, forwards, joined);
        List<String> lines = new ArrayList<>();
        ForwardCursor cursor = joined.build().cursor();
        while (cursor.next()) {
            StringBuilder line = new StringBuilder(cursor.startsSequence() ? "start " : "");
            line.append(cursor.isPrefill() ? "prefill" : "decode")
                    .append(" at ")
                    .append(cursor.position());
            for (int layer = 0; layer < 2; layer++) {
                int[] ids = new int[cursor.tokens() * 2];
                cursor.ids(layer, ids);
                line.append(layer == 0 ? ": " : " ").append(Arrays.toString(ids));
            }
            lines.add(line.toString());
        }
        return lines;
    }
}
