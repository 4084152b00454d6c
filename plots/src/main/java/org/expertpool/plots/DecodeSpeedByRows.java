package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Decode speed against rows per layer, a curve per graph mode; hollow where N does not fit the memory. */
final class DecodeSpeedByRows implements Figure {
    @Override
    public Optional<FigureData> of(ResultsTable table) {
        return SpeedRows.of(table).flatMap(speeds -> of(table, speeds));
    }

    private static Optional<FigureData> of(ResultsTable table, SpeedRows speeds) {
        List<Curve> curves = Curves.of(
                speeds.rows(),
                row -> row.number("rows_per_layer"),
                row -> row.number("decode_tok_per_s"),
                Fit.unfit(speeds.rows()),
                Set.of("memory")); // a limit decides what fits, not how fast it runs
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1)) {
            return Optional.empty();
        }
        List<Series> series = new ArrayList<>(
                CurveSeries.of(curves, speeds.colourDimension(), curve -> SpeedRows.isBound(curve.value("policy"))));
        ReportedMarks marks = ReportedMarks.of(
                table.reported(),
                row -> row.number("rows_per_layer"),
                row -> row.number("decode_tok_per_s"),
                ReportedMarks::speedText,
                " tok/s");
        series.addAll(marks.series());
        List<String> notes = new ArrayList<>();
        String contexts = ReportedMarks.contextNote(table.reported());
        if (!contexts.isEmpty()) {
            notes.add(contexts);
        }
        if (!speeds.notDrawn().isEmpty()) {
            notes.add("Not drawn here: " + String.join(", ", speeds.notDrawn()) + " (see the hit ratios).");
        }
        notes.addAll(Caption.notes(table, speeds.rows(), series, true));
        return Optional.of(new FigureData(
                "decode-speed-by-rows",
                "Decode speed against rows per layer",
                Caption.subtitle(speeds.rows()),
                Axis.linear("rows per layer, N", Axis.Ticks.NUMBER).withShareOf(Fit.experts(speeds.rows())),
                Axis.linear(speeds.title(), Axis.Ticks.NUMBER),
                series,
                MarkedRows.hairlines(table),
                marks.lines(),
                notes));
    }
}
