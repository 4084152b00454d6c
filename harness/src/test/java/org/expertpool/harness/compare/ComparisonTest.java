package org.expertpool.harness.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.junit.jupiter.api.Test;

class ComparisonTest {
    private static final double MARGIN = 0.01;

    @Test
    void identicalRunsAreTheSame() {
        List<ResultRow> run = rows("rows=1", "decode_tok_per_s", 60, 61, 62);
        Comparison.Line line = only(Comparison.of(run, rows("rows=1", "decode_tok_per_s", 61, 61, 61), MARGIN));
        assertThat(line.ratio().ratio()).isEqualTo(1.0);
        assertThat(line.verdict()).isEqualTo(Verdict.UNDECIDED);
        assertThat(only(Comparison.of(rows("c", "ttft_s", 5, 5, 5), rows("c", "ttft_s", 5, 5, 5), MARGIN))
                        .verdict())
                .isEqualTo(Verdict.SAME);
    }

    @Test
    void jsonHoldsTheLinesOfTheTable() throws IOException {
        Comparison comparison = Comparison.of(rows("c", "ttft_s", 4, 4, 4), rows("c", "ttft_s", 5, 5, 5), MARGIN);
        JsonNode line = new ObjectMapper()
                .readTree(ComparisonJson.of(comparison))
                .path("lines")
                .path(0);
        assertThat(line.path("metric").asText()).isEqualTo("ttft_s");
        assertThat(line.path("ratio").asDouble()).isEqualTo(1.25);
        assertThat(line.path("ratio_low").asDouble()).isEqualTo(1.25);
        assertThat(line.path("verdict").asText()).isEqualTo(Verdict.SLOWER.toString());
        Comparison none = Comparison.of(rows("c", "ttft_s", 0), rows("d", "ttft_s", 5), MARGIN);
        JsonNode root = new ObjectMapper().readTree(ComparisonJson.of(none));
        assertThat(root.path("lines")).isEmpty();
        assertThat(root.path("only_in_a").path(0).asText()).isEqualTo("c");
        assertThat(root.path("only_in_b").path(0).asText()).isEqualTo("d");
    }

    /** One value redrawn is itself ten thousand times: an interval of no width, which is said, and no verdict. */
    @Test
    void fewRepetitionsHaveNoVerdict() throws IOException {
        Comparison comparison = Comparison.of(rows("c", "ttft_s", 4), rows("c", "ttft_s", 5), MARGIN);
        JsonNode line = new ObjectMapper()
                .readTree(ComparisonJson.of(comparison))
                .path("lines")
                .path(0);
        assertThat(line.path("ratio").asDouble()).isEqualTo(1.25);
        assertThat(line.path("ratio_low").asDouble()).isEqualTo(1.25);
        assertThat(line.path("verdict").asText()).isEqualTo("undecided");
        assertThat(ComparisonTable.of(comparison))
                .contains(
                        "of fewer than 3 repetitions on a side, whose intervals are no measure of anything, so without a verdict: 1\n");
    }

    @Test
    void aHigherRateAndALowerTimeAreBothFaster() {
        assertThat(verdict("decode_tok_per_s", new double[] {100, 101, 102}, new double[] {110, 111, 112}))
                .isEqualTo(Verdict.FASTER);
        assertThat(verdict("decode_tok_per_s", new double[] {110, 111, 112}, new double[] {100, 101, 102}))
                .isEqualTo(Verdict.SLOWER);
        assertThat(verdict("ttft_s", new double[] {100, 101, 102}, new double[] {110, 111, 112}))
                .isEqualTo(Verdict.SLOWER);
        assertThat(verdict("ttft_s", new double[] {110, 111, 112}, new double[] {100, 101, 102}))
                .isEqualTo(Verdict.FASTER);
    }

    @Test
    void fewerThanThreeRepetitionsOnEitherSideAreUndecided() {
        assertThat(verdict("ttft_s", new double[] {100, 100}, new double[] {200, 200, 200}))
                .isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict("ttft_s", new double[] {100, 100, 100}, new double[] {200, 200}))
                .isEqualTo(Verdict.UNDECIDED);
        assertThat(verdict("ttft_s", new double[] {100, 100, 100}, new double[] {200, 200, 200}))
                .isEqualTo(Verdict.SLOWER);
    }

    @Test
    void anIntervalAcrossTheMarginIsUndecided() {
        assertThat(verdict("ttft_s", new double[] {100, 100, 100}, new double[] {100.5, 101.5, 102.5}))
                .isEqualTo(Verdict.UNDECIDED);
        // Exactly on the margin is not beyond it.
        assertThat(verdict("ttft_s", new double[] {100, 100, 100}, new double[] {101, 101, 101}))
                .isEqualTo(Verdict.SAME);
    }

    /**
     * A of three values redrawn with replacement has median {@code min} with probability 7/27, {@code max} likewise,
     * else the middle. B is constant, so the interval runs from B/max to B/min: 2.5 % lies well inside both tails.
     */
    @Test
    void theIntervalOfThreeRepetitionsSpansTheirExtremes() {
        MedianRatio ratio = MedianRatio.of(new double[] {10, 20, 40}, new double[] {20, 20, 20});
        assertThat(ratio.ratio()).isEqualTo(1.0);
        assertThat(ratio.low()).isEqualTo(0.5);
        assertThat(ratio.high()).isEqualTo(2.0);
    }

    /**
     * The bootstrap distribution enumerated: with A constant and nine distinct values in B, the median of a redraw is
     * at most the k-th value with probability P(Bin(9, k/9) >= 5). For k = 2 that is 0.0304, for k = 1 0.0014: the
     * 2.5 % point is the second value and, by symmetry, the 97.5 % point the eighth.
     */
    @Test
    void theIntervalOfNineRepetitionsIsThatOfTheEnumeratedBootstrap() {
        double[] b = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        MedianRatio ratio = MedianRatio.of(new double[] {1, 1, 1}, b);
        assertThat(ratio.ratio()).isEqualTo(5.0);
        assertThat(ratio.low()).isEqualTo(2.0);
        assertThat(ratio.high()).isEqualTo(8.0);
    }

    @Test
    void theMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
        assertThat(MedianRatio.median(new double[] {4, 1, 3, 2})).isCloseTo(2.5, within(0.0));
    }

    @Test
    void aZeroBaselineHasNoRatio() {
        Comparison.Line line = only(Comparison.of(
                rows("c", "staged_per_forward", 0, 0, 0), rows("c", "staged_per_forward", 1, 1, 1), MARGIN));
        assertThat(line.ratio().ratio()).isNaN();
        assertThat(line.verdict()).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void zerosOnBothSidesAreTheSame() {
        assertThat(verdict("staged_per_forward", new double[] {0, 0, 0}, new double[] {0, 0, 0}))
                .isEqualTo(Verdict.SAME);
        assertThat(verdict("staged_per_forward", new double[] {0, 0}, new double[] {0, 0}))
                .isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void countsAreComparedExactlyWhateverTheRepetitions() {
        assertThat(only(Comparison.of(rows("c", "misses", 5), rows("c", "misses", 5, 5), MARGIN))
                        .verdict())
                .isEqualTo(Verdict.EQUAL);
        assertThat(only(Comparison.of(rows("c", "misses", 5), rows("c", "misses", 6), MARGIN))
                        .verdict())
                .isEqualTo(Verdict.DIFFERENT);
    }

    @Test
    void unmatchedFailedAndReportedRowsTakeNoPart() {
        List<ResultRow> a = new ArrayList<>(rows("both", "ttft_s", 1));
        a.addAll(rows("a", "ttft_s", 1));
        a.add(rows("reported=x", "ttft_s", 1).get(0).toBuilder()
                .put("basis", "reported")
                .build());
        List<ResultRow> b = new ArrayList<>(rows("both", "ttft_s", 1));
        b.addAll(rows("b", "ttft_s", 1));
        b.add(rows("a", "ttft_s", 1).get(0).toBuilder().put("status", "failed").build());
        Comparison comparison = Comparison.of(a, b, MARGIN);
        assertThat(comparison.lines()).hasSize(1);
        assertThat(comparison.onlyInA()).containsExactly("a");
        assertThat(comparison.onlyInB()).containsExactly("b");
        assertThat(ComparisonTable.of(comparison)).contains("only in A: a\n", "only in B: b\n", "undecided: 1\n");
    }

    @Test
    void differentBasesAreShownBesideEachOther() {
        List<ResultRow> measured = rows("c", "ttft_s", 1).stream()
                .map(row -> row.toBuilder().put("basis", "measured").build())
                .toList();
        assertThat(only(Comparison.of(rows("c", "ttft_s", 1), measured, MARGIN)).bases())
                .isEqualTo("modelled/measured");
    }

    private static Verdict verdict(String metric, double[] a, double[] b) {
        return only(Comparison.of(rows("c", metric, a), rows("c", metric, b), MARGIN))
                .verdict();
    }

    private static Comparison.Line only(Comparison comparison) {
        assertThat(comparison.lines()).hasSize(1);
        return comparison.lines().get(0);
    }

    private static List<ResultRow> rows(String cell, String metric, double... values) {
        List<ResultRow> rows = new ArrayList<>();
        for (double value : values) {
            rows.add(ResultRow.builder()
                    .put("cell", cell)
                    .put("repetition", rows.size() + 1)
                    .put("status", "ok")
                    .put("basis", "modelled")
                    .put(metric, value)
                    .build());
        }
        return rows;
    }
}
