package org.expertpool.harness.run;

import java.util.List;
import java.util.stream.Collectors;
import org.expertpool.harness.analysis.Warnings;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.model.ModelPresets;

/** What a reader of a run's rows should know before believing them. */
final class RunWarnings {
    private RunWarnings() {}

    /** A sentence each; none about rows that lack counts. */
    static List<String> about(Definition definition, List<ResultRow> rows) {
        // Rows are judged later and elsewhere too, where a checkpoint need not be at hand: then none are called few.
        int topK = ModelWeights.isFolder(definition.model())
                ? 0
                : ModelPresets.load(definition.model()).topK();
        return Warnings.about(rows.stream()
                .filter(row -> row.isOk()
                        && row.get("misses").isPresent()
                        && row.get("rows_per_layer").isPresent()
                        && row.text("repetition").equals("1")) // the others count the same
                .map(row -> run(definition, row, topK))
                .toList());
    }

    private static Warnings.Run run(Definition definition, ResultRow row, int topK) {
        return new Warnings.Run(
                row.text("policy"),
                sweep(definition, row),
                (int) count(row, "rows_per_layer"),
                (int) count(row, "effective_rows"),
                topK,
                count(row, "forwards"),
                count(row, "prefill_promote") > 0
                        ? 0
                        : count(row, "partition_forwards"), // those do change the placement
                count(row, "selections"),
                count(row, "misses"),
                count(row, "promoted") + count(row, "exchanged"));
    }

    /** Every setting of the row's cell but rows and policy. */
    private static String sweep(Definition definition, ResultRow row) {
        return definition.cell(row.text("cell")).stream()
                .flatMap(cell -> cell.settings().entrySet().stream())
                .filter(setting -> !setting.getKey().equals(Axis.ROWS.key()))
                .map(Object::toString)
                .sorted()
                .collect(Collectors.joining(","));
    }

    private static long count(ResultRow row, String column) {
        return (long) row.number(column).orElse(0);
    }
}
