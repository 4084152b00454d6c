package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;

/** The figure of an experiment that no other fits: its main metric against the first axis that varies. */
final class GenericFigure implements Figure {
    private static final List<String> METRICS = List.of(
            "decode_tok_per_s", "prefill_tok_per_s", "ttft_s", "step_p50_us", "hit_ratio", "h2d_bytes_per_forward");
    private static final List<String> NUMERIC_AXES = List.of("rows_per_layer", "context", "memory_bytes");
    private static final List<String> NAMED_AXES = List.of(
            "policy", "graph_mode", "engine", "scope", "initial", "window", "backend", "device", "model", "trace");

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        for (String metric : metrics(table)) {
            List<ResultsRow> rows = table.own().stream()
                    .filter(row -> row.number(metric).isPresent())
                    .toList();
            if (!rows.isEmpty()) {
                return Optional.of(figure(table, rows, metric));
            }
        }
        return Optional.empty();
    }

    /** The known metrics first, then whatever other columns have a unit in their name. */
    private static List<String> metrics(ResultsTable table) {
        Set<String> metrics = new LinkedHashSet<>(METRICS);
        metrics.retainAll(table.columns());
        table.columns().stream()
                .filter(column -> column.matches(".*_(us|ms|s|ns|per_s|bytes|ratio|percent)"))
                .forEach(metrics::add);
        return List.copyOf(metrics);
    }

    private static FigureData figure(ResultsTable table, List<ResultsRow> rows, String metric) {
        String axis = axis(rows);
        boolean numeric = NUMERIC_AXES.contains(axis);
        Map<String, Integer> positions = new LinkedHashMap<>();
        rows.forEach(row -> positions.putIfAbsent(row.text(axis), positions.size()));
        Function<ResultsRow, OptionalDouble> x =
                numeric ? row -> row.number(axis) : row -> OptionalDouble.of(positions.get(row.text(axis)));
        List<Curve> curves = Curves.of(rows, x, row -> row.number(metric), Fit.unfit(rows), Set.of(axis));
        String colours =
                curves.stream().map(curve -> curve.value("policy")).distinct().count() > 1 ? "policy" : "graph_mode";
        List<Series> series = new ArrayList<>();
        for (Series one : CurveSeries.of(curves, colours, curve -> false)) {
            SeriesStyle.Dash dash = numeric ? one.style().dash() : SeriesStyle.Dash.NONE;
            SeriesStyle style =
                    new SeriesStyle(one.style().colour(), one.style().marker(), dash);
            series.add(new Series(one.label(), style, one.points()));
        }
        List<String> names = positions.keySet().stream()
                .map(name -> name.isEmpty() ? "(none)" : name)
                .toList();
        return new FigureData(
                metric.replace('_', '-') + "-by-" + axis.replace('_', '-'),
                metric + " against " + axis,
                Caption.subtitle(rows),
                numeric ? Axis.linear(axis, Axis.Ticks.NUMBER) : Axis.ofCategories(axis, names),
                Axis.linear(metric, Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(table, rows, List.of(), true));
    }

    private static String axis(List<ResultsRow> rows) {
        List<String> axes = new ArrayList<>(NUMERIC_AXES);
        axes.addAll(NAMED_AXES);
        return axes.stream()
                .filter(axis -> rows.stream().noneMatch(row -> row.text(axis).isEmpty() && NUMERIC_AXES.contains(axis)))
                .filter(axis ->
                        rows.stream().map(row -> row.text(axis)).distinct().count() > 1)
                .findFirst()
                .orElse("policy");
    }
}
