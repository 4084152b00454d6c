package org.expertpool.plots;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Hit ratios of cells taken apart, against what they are taken apart by.
 *
 * @param table name of the table in a run's details
 * @param name the figure's
 * @param x its axis
 * @param at where a line of the table lies on it
 */
record DetailFigure(String table, String name, String title, Axis x, Function<ResultsRow, OptionalDouble> at) {
    static final DetailFigure OVER_TIME = new DetailFigure(
            "over_time",
            "hit-ratio-over-time",
            "Hit ratio over time",
            Axis.linear("forwards since the start of the trace", Axis.Ticks.NUMBER),
            row -> row.number("from_forward"));

    /** The first token has number 1, so that it has a place on the log axis. */
    static final DetailFigure AFTER_START = new DetailFigure(
            "after_start",
            "hit-ratio-after-switch",
            "Hit ratio after a context switch",
            Axis.log2("forward of the sequence, from 1 (log scale); mean over the scored sequences", Axis.Ticks.NUMBER),
            row -> {
                OptionalDouble position = row.number("from_position");
                return position.isEmpty() ? position : OptionalDouble.of(position.getAsDouble() + 1);
            });

    /** What to draw of the table's lines, a figure for each window: two curves of a policy would share its colour. */
    List<FigureData> of(ResultsTable results, List<ResultsRow> lines) {
        Map<String, List<ResultsRow>> windows = lines.stream()
                .collect(Collectors.groupingBy(row -> row.text("window"), LinkedHashMap::new, Collectors.toList()));
        if (windows.size() < 2) {
            return ofWindow(results, lines, name).stream().toList();
        }
        return windows.entrySet().stream()
                .flatMap(window -> ofWindow(results, window.getValue(), name + "-" + window.getKey()).stream())
                .toList();
    }

    /** None where there are too few lines. */
    private Optional<FigureData> ofWindow(ResultsTable results, List<ResultsRow> lines, String file) {
        List<Curve> curves =
                Curves.of(lines, at, row -> row.number("hit_ratio"), row -> false, HitRatioByRows.NOT_ROUTING);
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1) || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "policy", curve -> false);
        return Optional.of(new FigureData(
                file,
                title + rows(lines),
                Caption.subtitle(lines),
                x,
                Axis.linear("hit ratio (hits / distinct experts selected)", Axis.Ticks.RATIO),
                series,
                List.of(),
                List.of(),
                Caption.notes(results, cells(lines), series, false)));
    }

    /** The one N of these lines, for a title. */
    static String rows(List<ResultsRow> lines) {
        List<String> rows = List.copyOf(Caption.distinct(lines, "rows_per_layer"));
        return rows.size() == 1 ? ", N = " + rows.get(0) : "";
    }

    // Counts of a line are of a part of the cell: what the caption says of the whole must not be taken from them.
    static List<ResultsRow> cells(List<ResultsRow> lines) {
        return lines.stream()
                .map(line -> {
                    Map<String, String> cells = new LinkedHashMap<>(line.cells());
                    cells.remove("forwards");
                    return new ResultsRow(line.file(), line.line(), cells);
                })
                .toList();
    }
}
