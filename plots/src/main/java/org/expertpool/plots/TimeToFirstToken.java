package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Time to the first token against the length of the input in chunks of one size, a curve per way, beside what was reported. */
final class TimeToFirstToken implements Figure {
    private static final String TOKENS = "input_tokens";
    private static final String SECONDS = "ttft_s";

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> rows = timed(table.own());
        List<Curve> curves = Curves.of(
                rows,
                row -> row.number(TOKENS),
                row -> row.number(SECONDS),
                row -> false,
                Set.of("policy", "scope", "initial", TOKENS));
        boolean chunksOfOneSize = Caption.distinct(rows, "chunk_tokens").size() < 2;
        if (!chunksOfOneSize
                || curves.stream().noneMatch(curve -> curve.points().size() > 1)
                || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = new ArrayList<>(CurveSeries.of(curves, "engine", curve -> false));
        series.addAll(ReportedMarks.of(
                        timed(table.reported()),
                        row -> row.number(TOKENS),
                        row -> row.number(SECONDS),
                        row -> Numbers.plain(row.number(SECONDS).orElseThrow()) + " s",
                        "")
                .series());
        return Optional.of(new FigureData(
                "time-to-first-token",
                "Time to first token against the length of the input" + DetailFigure.rows(rows),
                Caption.subtitle(rows),
                Axis.log2("input (tokens, 1k = 1,024, log scale)", Axis.Ticks.TOKENS),
                Axis.log2("time to first token (s, log scale)", Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(table, rows, series, true)));
    }

    private static List<ResultsRow> timed(List<ResultsRow> rows) {
        return rows.stream()
                .filter(row -> row.number(TOKENS).orElse(0) > 0)
                .filter(row -> row.number(SECONDS).orElse(0) > 0)
                .toList();
    }
}
