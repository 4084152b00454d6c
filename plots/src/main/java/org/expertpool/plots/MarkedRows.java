package org.expertpool.plots;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/**
 * The values of N a figure points out: those whose rows say {@code marked}, or, in a file without that column, those the
 * seed reported a decode speed for.
 */
final class MarkedRows {
    private MarkedRows() {}

    static List<Double> of(ResultsTable table) {
        Predicate<ResultsRow> marks = table.has("marked")
                ? row -> row.saysYes("marked")
                : row -> row.text("basis").equals("reported")
                        && row.text("source").equals("seed")
                        && !row.text("decode_tok_per_s").isEmpty();
        return table.rows().stream()
                .filter(row -> row.text("status").equals("ok"))
                .filter(marks)
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
