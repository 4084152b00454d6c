package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Hit ratio against rows per layer, a curve per policy, scope and window. */
final class HitRatioByRows implements Figure {
    /** What can't change which experts are resident, so that rows differing in it alone tell the same ratio. */
    static final Set<String> NOT_ROUTING =
            Set.of("graph_mode", "context", "memory", "device", "backend", "engine", "profile", "rest", "ple");

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> rows = table.own().stream()
                .filter(row -> row.number("hit_ratio").isPresent())
                .toList();
        List<Curve> curves = Curves.of(
                rows, row -> row.number("rows_per_layer"), row -> row.number("hit_ratio"), row -> false, NOT_ROUTING);
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1) || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = new ArrayList<>(CurveSeries.of(curves, "policy", curve -> false));
        ReportedMarks marks = ReportedMarks.of(
                table.reported(),
                row -> row.number("rows_per_layer"),
                row -> row.number("hit_ratio"),
                row -> row.text("hit_ratio"),
                "");
        series.addAll(marks.series());
        return Optional.of(new FigureData(
                "hit-ratio-by-rows",
                "Hit ratio against rows per layer",
                Caption.subtitle(rows),
                Axis.linear("rows per layer, N", Axis.Ticks.NUMBER).withShareOf(Fit.experts(rows)),
                Axis.linear("hit ratio (hits / distinct experts selected)", Axis.Ticks.RATIO),
                series,
                MarkedRows.hairlines(table),
                marks.lines(),
                Caption.notes(table, rows, series, false)));
    }
}
