package org.expertpool.plots;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** The time of a decode forward along a run, by the stretches of each cell that was taken apart: what a cold pool or a drift costs. */
final class DecodeTimes {
    static final String TABLE = "decode_times";

    private DecodeTimes() {}

    /** What to draw of the table's lines, a point for each stretch at its end; none where no cell has two, or cells are too many. */
    static Optional<FigureData> of(ResultsTable results, List<ResultsRow> lines) {
        List<Curve> curves = Curves.of(
                lines, DecodeTimes::end, row -> row.number("decode_ms_per_forward"), row -> false, Set.of("scope"));
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1) || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "engine", curve -> false);
        return Optional.of(new FigureData(
                "decode-over-time",
                "Time of a decode forward along the run" + DetailFigure.rows(lines),
                Caption.subtitle(lines),
                Axis.linear("decode forwards so far", Axis.Ticks.NUMBER),
                Axis.linear("time of a forward (ms), mean of a stretch", Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(results, DetailFigure.cells(lines), series, true)));
    }

    private static OptionalDouble end(ResultsRow line) {
        OptionalDouble from = line.number("from_decode_forward");
        OptionalDouble forwards = line.number("decode_forwards");
        return from.isEmpty() || forwards.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(from.getAsDouble() + forwards.getAsDouble());
    }
}
