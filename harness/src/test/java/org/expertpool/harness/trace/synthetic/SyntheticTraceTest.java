package org.expertpool.harness.trace.synthetic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SyntheticTraceTest {
    private static final String PROSE = SyntheticTraces.QWEN38_FLASH_NEXT_PROSE;

    static List<String> presets() {
        return SyntheticTraces.names();
    }

    @ParameterizedTest
    @MethodSource("presets")
    void lanesAreDistinctExpertsInRangeWithDescendingWeightsThatSumToOne(String preset) {
        RoutingTrace trace = SyntheticTraces.preset(preset, 40, 3);
        int topK = trace.shape().topK();
        int[] ids = new int[topK];
        float[] weights = new float[topK];
        ForwardCursor cursor = trace.cursor();
        while (cursor.next()) {
            for (int layer = 0; layer < trace.shape().layers(); layer++) {
                assertThat(cursor.ids(layer, ids)).isEqualTo(topK);
                assertThat(cursor.weights(layer, weights)).isEqualTo(topK);
                assertThat(ids).doesNotHaveDuplicates();
                assertThat(Arrays.stream(ids))
                        .allMatch(id -> id >= 0 && id < trace.shape().experts());
                float sum = 0;
                for (int lane = 0; lane < topK; lane++) {
                    assertThat(weights[lane]).isPositive();
                    assertThat(lane == 0 || weights[lane] <= weights[lane - 1]).isTrue();
                    sum += weights[lane];
                }
                assertThat(sum).isCloseTo(1f, within(1e-5f));
            }
        }
    }

    @Test
    void theSameSeedGivesTheSameTraceAndAnotherSeedAnother() {
        List<Object> first = everything(SyntheticTraces.preset(PROSE, 30, 11));
        assertThat(everything(SyntheticTraces.preset(PROSE, 30, 11))).isEqualTo(first);
        assertThat(everything(SyntheticTraces.preset(PROSE, 30, 12))).isNotEqualTo(first);
    }

    @Test
    void aShorterTraceIsTheBeginningOfALongerOne() {
        List<Object> longer = everything(SyntheticTraces.preset(PROSE, 30, 11));
        List<Object> shorter = everything(SyntheticTraces.preset(PROSE, 20, 11));
        assertThat(longer.subList(0, shorter.size())).isEqualTo(shorter);
    }

    @Test
    void cursorsThatRunAtTheSameTimeDoNotDisturbEachOther() {
        RoutingTrace trace = SyntheticTraces.preset(PROSE, 30, 5);
        List<Object> alone = everything(trace);
        List<CompletableFuture<List<Object>>> together = IntStream.range(0, 4)
                .mapToObj(index -> CompletableFuture.supplyAsync(() -> everything(trace)))
                .toList();
        assertThat(together).allSatisfy(one -> assertThat(one.join()).isEqualTo(alone));
    }

    @Test
    void sequencesHaveSomeHundredTokensAndPositionsCountWithinThem() {
        RoutingModel model = SyntheticTraces.model(PROSE);
        ForwardCursor cursor = SyntheticTraces.preset(PROSE, 2000, 1).cursor();
        int expectedPosition = 0;
        int sequences = 0;
        while (cursor.next()) {
            if (cursor.startsSequence()) {
                sequences++;
                assertThat(cursor.forward() == 0 || expectedPosition >= model.minSequenceTokens())
                        .isTrue();
                expectedPosition = 0;
            }
            assertThat(cursor.position()).isEqualTo(expectedPosition++);
            assertThat(expectedPosition).isLessThanOrEqualTo(model.maxSequenceTokens());
            assertThat(cursor.tokens()).isEqualTo(1);
            assertThat(cursor.isPrefill()).isFalse();
        }
        assertThat(sequences).isBetween(3, 7);
    }

    @Test
    void theSourceNamesPresetSeedAndLength() {
        assertThat(SyntheticTraces.preset(PROSE, 2000, 7).source())
                .isEqualTo("synthetic qwen3.8-flash-next-prose, seed 7, 2000 forwards");
    }

    @Test
    void anUnknownPresetIsRefusedWithTheNamesThereAre() {
        assertThatThrownBy(() -> SyntheticTraces.preset("qwen4", 10, 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage("preset is 'qwen4', expected one of qwen3.8-flash-next-prose, qwen3.8-flash-next-iid,"
                        + " qwen3-30b-a3b, tiny");
    }

    @Test
    void noForwardsIsRefused() {
        assertThatThrownBy(() -> SyntheticTraces.preset(PROSE, 0, 1))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("forwards is 0");
    }

    private static List<Object> everything(RoutingTrace trace) {
        List<Object> all = new ArrayList<>();
        int[] ids = new int[trace.shape().topK()];
        float[] weights = new float[trace.shape().topK()];
        ForwardCursor cursor = trace.cursor();
        while (cursor.next()) {
            all.add(cursor.startsSequence());
            for (int layer = 0; layer < trace.shape().layers(); layer++) {
                cursor.ids(layer, ids);
                cursor.weights(layer, weights);
                all.add(Arrays.stream(ids).boxed().toList());
                all.add(Arrays.toString(weights));
            }
        }
        return all;
    }
}
