package org.expertpool.plots;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The values of N a figure points out: those whose rows say {@code marked}, or, in a file without that column, those the
 * seed reported a decode speed for.
 */
final class MarkedRows {
    private MarkedRows() {}

    static List<Double> of(ResultsTable table) {
        List<ResultsRow> marked = table.has("marked")
                ? table.own().stream().filter(row -> row.saysYes("marked")).toList()
                : table.reported().stream()
                        .filter(row -> row.text("source").equals("seed"))
                        .filter(row -> row.number("decode_tok_per_s").isPresent())
                        .toList();
        return marked.stream()
                .map(row -> row.number("rows_per_layer"))
                .filter(OptionalDouble::isPresent)
                .map(OptionalDouble::getAsDouble)
                .distinct()
                .sorted(Comparator.naturalOrder())
                .toList();
    }

    static List<FigureData.Hairline> hairlines(ResultsTable table) {
        return of(table).stream()
                .map(n -> new FigureData.Hairline(n, "N = " + Numbers.plain(n)))
                .toList();
    }
}
