package org.expertpool.harness.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultRow;

/** A comparison as text: a Markdown table, the cells that have no partner, and a count of verdicts. */
public final class ComparisonTable {
    private static final List<String> HEADER =
            List.of("cell", "metric", "basis", "n", "A", "B", "B/A", "95 % interval", "verdict");

    private ComparisonTable() {}

    public static String of(Comparison comparison) {
        MarkdownTable table = new MarkdownTable(HEADER);
        Map<Verdict, Integer> verdicts = new LinkedHashMap<>();
        for (Comparison.Line line : comparison.lines()) {
            verdicts.merge(line.verdict(), 1, Integer::sum);
            table.add(List.of(
                    line.cell(),
                    line.metric().name(),
                    line.bases(),
                    Integer.toString(line.repetitions()),
                    number(line.medianA()),
                    number(line.medianB()),
                    ratio(line.ratio().ratio()),
                    interval(line.ratio()),
                    line.verdict().toString()));
        }
        StringBuilder text =
                new StringBuilder(comparison.hasCellInBoth() ? table.toString() : "No cell is in both runs.\n");
        comparison
                .onlyInA()
                .forEach(cell -> text.append("only in A: ").append(cell).append('\n'));
        comparison
                .onlyInB()
                .forEach(cell -> text.append("only in B: ").append(cell).append('\n'));
        long few = comparison.lines().stream()
                .filter(line -> line.verdict() == Verdict.UNDECIDED)
                .filter(line -> line.repetitions() < Verdict.MIN_REPETITIONS)
                .count();
        if (few > 0) {
            text.append(
                    "of fewer than %d repetitions on a side, whose intervals are no measure of anything, so without a verdict: %d\n"
                            .formatted(Verdict.MIN_REPETITIONS, few));
        }
        verdicts.forEach((verdict, count) ->
                text.append(verdict).append(": ").append(count).append('\n'));
        return text.toString();
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "" : ResultRow.format(value);
    }

    private static String ratio(double value) {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.4f", value);
    }

    private static String interval(MedianRatio ratio) {
        return Double.isNaN(ratio.ratio()) ? "" : ratio(ratio.low()) + " to " + ratio(ratio.high());
    }
}
