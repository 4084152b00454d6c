package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Misses of each layer as bars, of the first policy that was taken apart; the others as marks beside them. */
final class MissesByLayer {
    static final String TABLE = "layers";

    private MissesByLayer() {}

    /** What to draw of the table's lines, none where there is but one layer. */
    static Optional<FigureData> of(ResultsTable results, List<ResultsRow> all) {
        List<ResultsRow> lines =
                all.stream().filter(line -> alike(line, all.get(0))).toList();
        List<String> layers = List.copyOf(Caption.distinct(lines, "layer"));
        Map<String, List<ResultsRow>> cells = new LinkedHashMap<>();
        lines.forEach(line -> cells.computeIfAbsent(line.text("cell"), any -> new ArrayList<>())
                .add(line));
        if (layers.size() < 2 || cells.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Curve> curves = Curves.of(
                lines,
                row -> row.number("layer"),
                MissesByLayer::missPercent,
                row -> false,
                HitRatioByRows.NOT_ROUTING);
        List<Series> series = new ArrayList<>();
        for (Series one : CurveSeries.of(curves, "policy", curve -> false)) {
            SeriesStyle.Dash dash = series.isEmpty() ? SeriesStyle.Dash.BAR : SeriesStyle.Dash.NONE;
            SeriesStyle style =
                    new SeriesStyle(one.style().colour(), one.style().marker(), dash);
            series.add(new Series(
                    one.label(),
                    style,
                    one.points().stream().map(MissesByLayer::turned).toList()));
        }
        return Optional.of(new FigureData(
                "misses-by-layer",
                "Misses by layer" + DetailFigure.rows(lines),
                Caption.subtitle(lines),
                Axis.linear("misses per distinct expert selected (%)", Axis.Ticks.PERCENT),
                Axis.linear("layer", Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(results, DetailFigure.cells(lines), series, false)));
    }

    /** Marks have no dash to tell windows and scopes apart by. */
    private static boolean alike(ResultsRow one, ResultsRow other) {
        return List.of("window", "scope", "rows_per_layer").stream()
                .allMatch(column -> one.text(column).equals(other.text(column)));
    }

    private static Point turned(Point point) {
        return Point.of(point.y(), point.x());
    }

    private static OptionalDouble missPercent(ResultsRow row) {
        OptionalDouble hits = row.number("hit_ratio");
        return hits.isEmpty() ? hits : OptionalDouble.of(100 * (1 - hits.getAsDouble()));
    }
}
