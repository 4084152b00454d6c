package org.expertpool.harness.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.junit.jupiter.api.Test;

/** Statistics of a five-token trace, worked out by hand, and of a generated one against plainer code. */
class TraceStatisticsTest {
    private static final TraceShape SMALL = new TraceShape(1, 6, 2, false);

    private static InMemoryTrace.Builder fiveTokens() {
        return InMemoryTrace.builder(SMALL, "by hand")
                .decode(true, 0, 0, 1)
                .decode(false, 1, 1, 2)
                .decode(false, 2, 0, 1)
                .decode(false, 3, 3, 0)
                .decode(false, 4, 1, 2);
    }

    @Test
    void overlapComparesATokenWithThoseBeforeIt() {
        // Lag 1 shares 1, 1, 1, 0 of 2; lag 2 shares 2, 0, 1; lag 4 shares expert 1.
        TraceStatistics statistics = TraceStatistics.of(fiveTokens().build(), 100);
        assertThat(value(statistics, "overlap_ratio_lag_1")).isEqualTo(3 / 8.0);
        assertThat(value(statistics, "overlap_ratio_lag_2")).isEqualTo(3 / 6.0);
        assertThat(value(statistics, "overlap_ratio_lag_4")).isEqualTo(1 / 2.0);
        assertThat(statistics.value("overlap_ratio_lag_8")).isEmpty();
    }

    @Test
    void overlapAndWindowsEndAtASequenceBoundary() {
        RoutingTrace trace = fiveTokens().decode(true, 0, 1, 2).build();
        TraceStatistics statistics = TraceStatistics.of(trace, 100);
        assertThat(value(statistics, "overlap_ratio_lag_1")).isEqualTo(3 / 8.0);
        assertThat(value(statistics, "distinct_experts_5_tokens")).isEqualTo(4);
        assertThat(statistics.value("distinct_experts_150_tokens")).isEmpty();
    }

    @Test
    void popularityIgnoresOrder() {
        // Expert 1 is selected 4 times, 0 three times, 2 twice, 3 once: entropy 1.279854 nat of ln 6 = 1.791759.
        TraceStatistics statistics = TraceStatistics.of(fiveTokens().build(), 100);
        assertThat(value(statistics, "entropy_ratio_all_layers")).isCloseTo(0.714300, within(1e-6));
        assertThat(value(statistics, "busiest_over_mean_layer_0")).isEqualTo(2.4);
        assertThat(value(statistics, "distinct_experts_layer_0")).isEqualTo(4);
    }

    @Test
    void reuseDistancesGiveTheWholeLruCurve() {
        // Stack before each token, most recent first: -, [1 0], [2 1 0], [1 0 2], [0 3 1 2].
        // Positions found: -, -; 0, -; 2, 1; -, 1; 2, 3. So 2 rows hold 3 of 10, 3 rows 5, 4 rows 6.
        ReuseDistances distances = new ReuseDistances("x", 0, 100, new double[0], 1, 6);
        int[][] tokens = {{0, 1}, {1, 2}, {0, 1}, {3, 0}, {1, 2}};
        for (int token = 0; token < tokens.length; token++) {
            distances.observe(token, token == 0, 0, tokens[token], 2);
        }
        assertThat(distances.hitRatio(2)).isEqualTo(0.3);
        assertThat(distances.hitRatio(3)).isEqualTo(0.5);
        assertThat(distances.hitRatio(4)).isEqualTo(0.6);
        assertThat(distances.hitRatio(6)).isEqualTo(0.6);
        assertThat(distances.hitRatio(2.25)).isCloseTo(0.35, within(1e-12));
    }

    @Test
    void forwardsOfSeveralTokensAreLeftOut() {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(SMALL, "with prefill");
        builder.forward(new ForwardHeader(true, true, 0, 2), new int[] {4, 5, 5, 4}, null);
        builder.decode(false, 2, 0, 1).decode(false, 3, 1, 0);
        TraceStatistics statistics = TraceStatistics.of(builder.build(), 100);
        assertThat(value(statistics, "distinct_experts_layer_0")).isEqualTo(2);
        assertThat(value(statistics, "overlap_ratio_lag_1")).isEqualTo(1);
    }

    @Test
    void aTraceWithoutDecodeHasNoStatistics() {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(SMALL, "prefill alone");
        builder.forward(new ForwardHeader(true, true, 0, 2), new int[] {4, 5, 5, 4}, null);
        assertThat(TraceStatistics.of(builder.build(), 100).all()).isEmpty();
    }

    @Test
    void theLruCurveOfAGeneratedTraceIsThatOfANaiveLru() {
        RoutingTrace trace = SyntheticTraces.preset(SyntheticTraces.QWEN3_30B_A3B, 256, 9);
        TraceStatistics statistics = TraceStatistics.of(trace, 256);
        // Which of the experts last used in one event goes first is arbitrary: row order there, lane order here.
        assertThat(value(statistics, "lru_hit_ratio_cold_8_rows")).isEqualTo(NaiveLru.hitRatio(trace, 8, 0, 256));
        assertThat(value(statistics, "lru_hit_ratio_steady_32_rows"))
                .isCloseTo(NaiveLru.hitRatio(trace, 32, 64, 256), within(0.002));
    }

    @Test
    void publishedFiguresStandBesideTheStatisticsOfAPreset() {
        RoutingTrace trace = SyntheticTraces.preset(SyntheticTraces.QWEN38_FLASH_NEXT_PROSE, 300, 1);
        TraceStatistics statistics = TraceStatistics.of(trace, 300);
        assertThat(statistics.published())
                .anySatisfy(figure -> assertThat(figure)
                        .isEqualTo(new PublishedFigure("lru_hit_ratio_cold_62_rows", 0.62, 0.62, "kekzl/imp#2061")));
        assertThat(statistics.table())
                .anyMatch(line -> line.matches("lru_hit_ratio_cold_62_rows +0\\.6\\d+ +0\\.6200 .*2061"));
    }

    @Test
    void deviationIsTheDistanceToThePublishedRange() {
        PublishedFigure figure = new PublishedFigure("x", 0.25, 0.5, "somewhere");
        assertThat(figure.deviation(0.125)).isEqualTo(-0.125);
        assertThat(figure.deviation(0.3)).isZero();
        assertThat(figure.deviation(0.75)).isEqualTo(0.25);
    }

    private static double value(TraceStatistics statistics, String name) {
        return statistics.value(name).orElseThrow(() -> new AssertionError("no statistic " + name));
    }
}
