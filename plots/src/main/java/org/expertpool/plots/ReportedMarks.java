package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Figures reported elsewhere: a series of marks per source and engine, and a line for each that has no x and was not
 * measured at a hit ratio that somebody imposed.
 */
record ReportedMarks(List<Series> series, List<FigureData.Hairline> lines) {
    static ReportedMarks of(
            List<ResultsRow> reported,
            Function<ResultsRow, OptionalDouble> x,
            Function<ResultsRow, OptionalDouble> y,
            Function<ResultsRow, String> text,
            String unit) {
        Map<String, List<ResultsRow>> groups = new LinkedHashMap<>();
        List<FigureData.Hairline> lines = new ArrayList<>();
        for (ResultsRow row : reported) {
            OptionalDouble value = y.apply(row);
            if (value.isPresent() && x.apply(row).isPresent()) {
                groups.computeIfAbsent(origin(row), any -> new ArrayList<>()).add(row);
            } else if (value.isPresent() && row.text("hit_ratio").isEmpty()) { // imposed misses are at no N
                lines.add(new FigureData.Hairline(
                        value.getAsDouble(), Series.REPORTED + origin(row) + ": " + text.apply(row) + unit));
            }
        }
        List<Series> series = new ArrayList<>();
        groups.forEach((origin, rows) -> {
            List<Point> points = rows.stream()
                    .map(row -> point(x.apply(row).orElseThrow(), y.apply(row).orElseThrow(), text.apply(row)))
                    .toList();
            series.add(
                    new Series(Series.REPORTED + origin + condition(rows), HouseStyle.reported(series.size()), points));
        });
        return new ReportedMarks(List.copyOf(series), List.copyOf(lines));
    }

    private static Point point(double x, double y, String text) {
        return new Point(x, y, y, y, 1, false, text, true);
    }

    private static String origin(ResultsRow row) {
        String source = row.text("source").isEmpty() ? "elsewhere" : row.text("source");
        return row.text("engine").isEmpty() ? source : source + ", " + row.text("engine");
    }

    /** Policy, scope and window where the rows agree on them, in parentheses. */
    private static String condition(List<ResultsRow> rows) {
        List<String> words = new ArrayList<>();
        for (String column : List.of("policy", "scope", "window")) {
            Set<String> values = rows.stream().map(row -> row.text(column)).collect(Collectors.toSet());
            String word =
                    values.size() == 1 ? Words.value(column, values.iterator().next()) : "";
            if (!word.isEmpty()) {
                words.add(word);
            }
        }
        return words.isEmpty() ? "" : " (" + String.join(", ", words) + ")";
    }

    /** A mark's value, and the length of the input where the file says it. */
    static String speedText(ResultsRow row) {
        String value = row.text("decode_tok_per_s");
        String input = row.text("input_tokens");
        return input.isEmpty() ? value : value + " (input " + Numbers.grouped(input) + ")";
    }

    /** At which contexts speeds were reported, by N: a mark over a curve may have been run with a far longer one. */
    static String contextNote(List<ResultsRow> reported) {
        Set<String> contexts = reported.stream()
                .filter(row -> row.number("decode_tok_per_s").isPresent())
                .filter(row -> !row.text("rows_per_layer").isEmpty()
                        && !row.text("context").isEmpty())
                .map(row -> "N = " + row.text("rows_per_layer") + " at " + Numbers.grouped(row.text("context")))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        return contexts.isEmpty() ? "" : "Context of reported speeds (tokens): " + String.join("; ", contexts) + ".";
    }
}
