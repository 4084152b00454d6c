package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** The figure of an experiment that no other fits: its main metric against the first axis that varies. */
final class GenericFigure implements Figure {
    private static final List<String> METRICS = List.of(
            "decode_tok_per_s", "prefill_tok_per_s", "ttft_s", "step_p50_us", "hit_ratio", "h2d_bytes_per_forward");
    private static final List<String> NAMED_AXES = List.of(
            "policy", "graph_mode", "engine", "scope", "initial", "window", "backend", "device", "model", "trace");

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        for (String metric : metrics(table)) {
            List<ResultsRow> rows = table.own().stream()
                    .filter(row -> row.number(metric).isPresent())
                    .toList();
            if (!rows.isEmpty()) {
                return figure(table, rows, metric);
            }
        }
        return Optional.empty();
    }

    /** The known metrics first, then whatever other columns have a unit in their name. */
    private static List<String> metrics(ResultsTable table) {
        Set<String> metrics = new LinkedHashSet<>(METRICS);
        metrics.retainAll(table.columns());
        table.columns().stream()
                .filter(column -> column.matches(".*_(us|ms|s|ns|op|token|bytes|ratio|percent)"))
                .forEach(metrics::add);
        return List.copyOf(metrics);
    }

    private static Optional<FigureData> figure(ResultsTable table, List<ResultsRow> rows, String metric) {
        String axis = axis(rows);
        boolean numeric = isNumeric(rows, axis);
        Map<String, Integer> positions = new LinkedHashMap<>();
        rows.forEach(row -> positions.putIfAbsent(value(row, axis), positions.size()));
        Function<ResultsRow, OptionalDouble> x = row ->
                OptionalDouble.of(numeric ? Double.parseDouble(value(row, axis)) : positions.get(value(row, axis)));
        // A planner as wide as the sequences are many says the same twice.
        Set<String> ignored = axis.equals("streams") ? Set.of(axis, "decode_tokens") : Set.of(axis);
        List<Curve> curves = Curves.of(rows, x, row -> row.number(metric), Fit.unfit(rows), ignored);
        boolean compares =
                numeric ? curves.stream().anyMatch(curve -> curve.points().size() > 1) : positions.size() > 1;
        if (!compares || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = new ArrayList<>();
        for (Series one : CurveSeries.of(curves, colourDimension(curves), curve -> false)) {
            SeriesStyle.Dash dash = numeric ? one.style().dash() : SeriesStyle.Dash.NONE;
            SeriesStyle style =
                    new SeriesStyle(one.style().colour(), one.style().marker(), dash);
            series.add(new Series(one.label(), style, one.points()));
        }
        List<String> names = positions.keySet().stream()
                .map(name -> name.isEmpty() ? "(none)" : name)
                .toList();
        String title = Words.column(metric).replaceFirst(" \\(.*", "");
        return Optional.of(new FigureData(
                (metric + "-by-" + axis).replaceAll("[^a-zA-Z0-9]+", "-"),
                title.substring(0, 1).toUpperCase(Locale.ROOT) + title.substring(1) + " against "
                        + Words.column(axis).replaceFirst(" \\(.*", ""),
                Caption.subtitle(rows),
                numeric
                        ? Axis.linear(Words.column(axis), Axis.Ticks.NUMBER)
                        : Axis.ofCategories(Words.column(axis), names),
                Axis.linear(Words.column(metric), Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(table, rows, series, true)));
    }

    /** Colours stand for policies where there are several, else for engines, else for graph modes. */
    private static String colourDimension(List<Curve> curves) {
        return Stream.of("policy", "engine")
                .filter(dimension -> curves.stream()
                                .map(curve -> curve.value(dimension))
                                .filter(value -> !value.isEmpty())
                                .distinct()
                                .count()
                        > 1)
                .findFirst()
                .orElse("graph_mode");
    }

    /** The first axis with more than one value, one with numbers before one with names. */
    private static String axis(List<ResultsRow> rows) {
        Set<String> axes = new LinkedHashSet<>(List.of("rows_per_layer"));
        rows.forEach(row -> axes.addAll(Curves.cellKeys(row.text("cell")).keySet()));
        axes.removeAll(Curves.KNOWN_CELL_KEYS.stream()
                .filter(key -> !key.equals("rows_per_layer"))
                .toList());
        axes.addAll(NAMED_AXES);
        List<String> varying = axes.stream()
                .filter(axis -> rows.stream()
                                .map(row -> value(row, axis))
                                .filter(value -> !value.isEmpty())
                                .distinct()
                                .count()
                        > 1)
                .toList();
        return varying.stream()
                .filter(axis -> isNumeric(rows, axis))
                .findFirst()
                .or(() -> varying.stream().findFirst())
                .orElse("policy");
    }

    private static boolean isNumeric(List<ResultsRow> rows, String axis) {
        return rows.stream().allMatch(row -> value(row, axis).matches("-?\\d+(\\.\\d+)?"));
    }

    /** The value of a column, or of a key of the cell id where there is no such column. */
    private static String value(ResultsRow row, String axis) {
        return row.cells().containsKey(axis)
                ? row.text(axis)
                : Curves.cellKeys(row.text("cell")).getOrDefault(axis, "");
    }
}
