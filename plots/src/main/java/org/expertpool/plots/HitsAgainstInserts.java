package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Hit ratio against what is written into the bank for it, a curve per policy over N: up and to the left is better. */
final class HitsAgainstInserts implements Figure {
    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> all = table.own().stream()
                .filter(row -> row.number("inserts_per_100").isPresent())
                .toList();
        List<ResultsRow> rows = all.stream()
                .filter(row -> row.number("inserts_per_100").orElse(0) > 0)
                .toList();
        List<Double> marked = MarkedRows.of(table);
        List<ResultsRow> shown = marked.isEmpty()
                ? rows
                : rows.stream()
                        .filter(row ->
                                marked.contains(row.number("rows_per_layer").orElse(-1)))
                        .toList();
        List<Curve> curves = Curves.of(
                shown,
                row -> row.number("inserts_per_100"),
                row -> row.number("hit_ratio"),
                row -> false,
                HitRatioByRows.NOT_ROUTING);
        boolean gated = Caption.distinct(shown, "policy").stream().anyMatch(name -> name.contains("promote."));
        if (!gated || curves.size() < 2 || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "policy", curve -> false);
        List<String> notes = new ArrayList<>();
        notes.add("A curve's points are N = "
                + String.join(", ", marked.stream().map(Numbers::plain).toList()) + ", from below.");
        if (rows.size() < all.size()) {
            notes.add("Not on the log axis: %d of %d rows that insert nothing."
                    .formatted(all.size() - rows.size(), all.size()));
        }
        notes.addAll(Caption.notes(table, shown, series, false));
        return Optional.of(new FigureData(
                "hits-against-inserts",
                "Hit ratio against inserts",
                Caption.subtitle(shown),
                Axis.log2("experts brought into the bank per 100 selected (log scale)", Axis.Ticks.NUMBER),
                Axis.linear("hit ratio (hits / distinct experts selected)", Axis.Ticks.RATIO),
                series,
                List.of(),
                List.of(),
                notes));
    }
}
