package org.expertpool.plots;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The main figure: decode speed against the context that fits beside N, with N named along the uppermost curve. */
final class SpeedAgainstCapacity implements Figure {
    @Override
    public Optional<FigureData> of(ResultsTable table) {
        return SpeedRows.of(table).flatMap(speeds -> of(table, speeds));
    }

    private static Optional<FigureData> of(ResultsTable table, SpeedRows speeds) {
        List<ResultsRow> rows = speeds.rows().stream()
                .filter(row -> !row.text("window").equals("cold"))
                .filter(row -> !speeds.byGraphMode() || !SpeedRows.isBound(row.text("policy")))
                .toList();
        List<Curve> curves =
                Curves.of(rows, Fit::capacity, row -> row.number("decode_tok_per_s"), row -> false, Set.of());
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1)) {
            return Optional.empty();
        }
        List<Series> series = new ArrayList<>(CurveSeries.of(curves, speeds.colourDimension(), curve -> false));
        nameRows(series, rows, MarkedRows.of(table));
        List<ResultsRow> reported = table.reported();
        ReportedMarks marks = ReportedMarks.of(
                reported,
                SpeedAgainstCapacity::markContext,
                row -> row.number("decode_tok_per_s"),
                SpeedAgainstCapacity::markText,
                " tok/s");
        series.addAll(marks.series());
        List<String> notes = new ArrayList<>();
        notes.add("Bold N and small numbers: rows per layer. Reported marks stand at the context they were run with.");
        String unfit = unfit(rows);
        if (!unfit.isEmpty()) {
            notes.add(
                    "Not on the figure, as no context fits beside it in " + Fit.memory(rows) + ": N = " + unfit + ".");
        }
        notes.addAll(Caption.notes(table, rows, series, true));
        return Optional.of(new FigureData(
                "speed-against-capacity",
                "Decode speed against context capacity",
                Caption.subtitle(rows),
                Axis.log2(
                        "context that fits beside N rows per layer (tokens, 1k = 1,024, log scale)", Axis.Ticks.TOKENS),
                Axis.linear(speeds.title(), Axis.Ticks.NUMBER),
                series,
                longest(reported),
                marks.lines(),
                notes));
    }

    /** Where a mark stands; none for what was reported without an N, such as offloading without a pool. */
    private static OptionalDouble markContext(ResultsRow row) {
        OptionalDouble context = row.number("context");
        boolean placed = row.number("rows_per_layer").isPresent() && context.orElse(0) > 0;
        return placed ? context : OptionalDouble.empty();
    }

    private static String markText(ResultsRow row) {
        String n = row.text("rows_per_layer").isEmpty() ? "" : "N=" + row.text("rows_per_layer") + ": ";
        return n + ReportedMarks.speedText(row);
    }

    /** A hairline at the longest context something was reported for. */
    private static List<FigureData.Hairline> longest(List<ResultsRow> reported) {
        return reported.stream()
                .flatMap(row -> markContext(row).stream().boxed())
                .max(Comparator.naturalOrder())
                .map(tokens -> new FigureData.Hairline(tokens, Numbers.plain(tokens) + " tokens"))
                .stream()
                .toList();
    }

    private static String unfit(List<ResultsRow> rows) {
        Set<Double> fit = new TreeSet<>();
        Set<Double> unfit = new TreeSet<>();
        for (ResultsRow row : rows) {
            row.number("rows_per_layer").ifPresent(n -> (Fit.capacity(row).isPresent() ? fit : unfit).add(n));
        }
        unfit.removeAll(fit);
        return unfit.stream().map(Numbers::plain).collect(Collectors.joining(", "));
    }

    /** Labels the points of the curve that lies highest on the whole; N is the same along all of them. */
    private static void nameRows(List<Series> series, List<ResultsRow> rows, List<Double> marked) {
        Map<Double, Double> rowsAt = new HashMap<>();
        for (ResultsRow row : rows) {
            Fit.capacity(row)
                    .ifPresent(tokens -> row.number("rows_per_layer").ifPresent(n -> rowsAt.putIfAbsent(tokens, n)));
        }
        int top = 0;
        for (int i = 1; i < series.size(); i++) {
            top = mean(series.get(i)) > mean(series.get(top)) ? i : top;
        }
        Series upper = series.get(top);
        List<Point> named = upper.points().stream()
                .map(point -> name(point, rowsAt.get(point.x()), marked))
                .toList();
        series.set(top, new Series(upper.label(), upper.style(), named));
    }

    private static Point name(Point point, Double n, List<Double> marked) {
        if (n == null) {
            return point;
        }
        boolean emphasised = marked.contains(n);
        return point.labelled((emphasised ? "N=" : "") + Numbers.plain(n), emphasised);
    }

    private static double mean(Series series) {
        return series.points().stream().mapToDouble(Point::y).average().orElse(0);
    }
}
