package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** Miss ratio against rows per layer on a log axis, which shows how far each policy is from Belady's bound. */
final class MissRatioByRows implements Figure {
    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> rows = table.own().stream()
                .filter(row -> row.number("hit_ratio").isPresent())
                .toList();
        List<ResultsRow> missing =
                rows.stream().filter(row -> missPercent(row).orElse(0) > 0).toList();
        List<String> policies = Caption.distinct(missing, "policy").stream().toList();
        if (policies.stream().noneMatch(SpeedRows::isBound) || policies.size() < 2) {
            return Optional.empty();
        }
        List<Curve> curves = Curves.of(
                missing,
                row -> row.number("rows_per_layer"),
                MissRatioByRows::missPercent,
                row -> false,
                HitRatioByRows.NOT_ROUTING);
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1) || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "policy", curve -> false);
        List<String> notes = new ArrayList<>();
        if (missing.size() < rows.size()) {
            notes.add("Not on the log axis: %d of %d rows without a single miss."
                    .formatted(rows.size() - missing.size(), rows.size()));
        }
        notes.addAll(Caption.notes(table, rows, series, false));
        return Optional.of(new FigureData(
                "miss-ratio-by-rows",
                "Miss ratio against rows per layer",
                Caption.subtitle(rows),
                Axis.linear("rows per layer, N", Axis.Ticks.NUMBER).withShareOf(Fit.experts(rows)),
                Axis.log2("misses per distinct expert selected (%, log scale)", Axis.Ticks.PERCENT),
                series,
                MarkedRows.hairlines(table),
                List.of(),
                notes));
    }

    /** From the counts where they are there, as a ratio near 1 loses digits. */
    private static OptionalDouble missPercent(ResultsRow row) {
        OptionalDouble misses = row.number("misses");
        OptionalDouble selections = row.number("selections");
        if (misses.isPresent() && selections.orElse(0) > 0) {
            return OptionalDouble.of(100 * misses.getAsDouble() / selections.getAsDouble());
        }
        OptionalDouble hits = row.number("hit_ratio");
        return hits.isPresent() ? OptionalDouble.of(100 * (1 - hits.getAsDouble())) : hits;
    }
}
