package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;

/** Figures reported elsewhere: a series of marks per source and engine, and a line for each that has no x. */
record ReportedMarks(List<Series> series, List<FigureData.Hairline> lines) {
    static ReportedMarks of(
            List<ResultsRow> reported,
            Function<ResultsRow, OptionalDouble> x,
            Function<ResultsRow, OptionalDouble> y,
            Function<ResultsRow, String> text,
            String unit) {
        Map<String, List<Point>> groups = new LinkedHashMap<>();
        List<FigureData.Hairline> lines = new ArrayList<>();
        for (ResultsRow row : reported) {
            OptionalDouble value = y.apply(row);
            OptionalDouble at = x.apply(row);
            if (value.isEmpty()) {
                continue;
            }
            double v = value.getAsDouble();
            if (at.isPresent()) {
                groups.computeIfAbsent(origin(row), any -> new ArrayList<>())
                        .add(new Point(at.getAsDouble(), v, v, v, 1, false, text.apply(row), true));
            } else {
                lines.add(new FigureData.Hairline(v, "reported, " + origin(row) + ": " + text.apply(row) + unit));
            }
        }
        List<Series> series = new ArrayList<>();
        groups.forEach((origin, points) ->
                series.add(new Series("reported, " + origin, HouseStyle.reported(series.size()), points)));
        return new ReportedMarks(List.copyOf(series), List.copyOf(lines));
    }

    private static String origin(ResultsRow row) {
        String source = row.text("source").isEmpty() ? "elsewhere" : row.text("source");
        return row.text("engine").isEmpty() ? source : source + ", " + row.text("engine");
    }

    /** A mark's value, and the length of the input where the file says it. */
    static String speedText(ResultsRow row) {
        String value = row.text("decode_tok_per_s");
        String input = row.text("input_tokens");
        return input.isEmpty() ? value : value + " (input " + Numbers.grouped(input) + ")";
    }
}
