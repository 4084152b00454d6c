package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.compare.MedianRatio;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultRow;

/** Cells that ran more than once: the median of their repetitions, with the 95 % bootstrap interval of a median. */
final class RepeatedCells {
    private static final List<String> METRICS =
            List.of("decode_tok_per_s", "step_p50_us", "step_p99_us", "prefill_tok_per_s", "ttft_s");
    private static final double[] ONE = {1}; // a ratio to it is the median itself

    private RepeatedCells() {}

    /** A line for each cell and metric with several values that are not all the same; empty where there is none. */
    static String table(List<ResultRow> rows) {
        Map<String, List<ResultRow>> cells = new LinkedHashMap<>();
        for (ResultRow row : rows) {
            if (row.isOk() && !row.text("basis").equals("reported")) {
                cells.computeIfAbsent(row.text("cell"), any -> new ArrayList<>())
                        .add(row);
            }
        }
        MarkdownTable table = new MarkdownTable(List.of("cell", "metric", "n", "median", "95 % interval"));
        boolean any = false;
        for (Map.Entry<String, List<ResultRow>> cell : cells.entrySet()) {
            for (String metric : METRICS) {
                double[] values = cell.getValue().stream()
                        .flatMapToDouble(row -> row.number(metric).stream())
                        .toArray();
                if (Arrays.stream(values).distinct().count() > 1) {
                    MedianRatio median = MedianRatio.of(ONE, values);
                    table.add(List.of(
                            cell.getKey(),
                            metric,
                            Integer.toString(values.length),
                            SummaryTable.number(median.ratio()),
                            SummaryTable.number(median.low()) + " to " + SummaryTable.number(median.high())));
                    any = true;
                }
            }
        }
        return any ? table.toString() : "";
    }
}
