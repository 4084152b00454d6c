package org.expertpool.plots;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Prefill speed against the tokens of a chunk, a curve per way; it does not depend on how long the input is. */
final class PrefillByChunk implements Figure {
    private static final String TOKENS = "chunk_tokens";

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> rows = table.own().stream()
                .filter(row -> row.number(TOKENS).isPresent())
                .filter(row -> row.number("prefill_tok_per_s").orElse(0) > 0)
                .toList();
        List<Curve> curves = Curves.of(
                rows,
                row -> row.number(TOKENS),
                row -> row.number("prefill_tok_per_s"),
                row -> false,
                Set.of("policy", "scope", "initial", TOKENS, "input_tokens"));
        if (curves.stream().noneMatch(curve -> curve.points().size() > 1) || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "engine", curve -> false);
        List<String> notes = Caption.notes(table, rows, series, true);
        notes.add(
                0,
                "Inputs of "
                        + String.join(
                                ", ",
                                Caption.distinct(rows, "input_tokens").stream()
                                        .map(Numbers::grouped)
                                        .toList())
                        + " tokens.");
        return Optional.of(new FigureData(
                "prefill-by-chunk",
                "Prefill speed against the size of a chunk" + DetailFigure.rows(rows),
                Caption.subtitle(rows),
                Axis.log2("tokens of a chunk (log scale)", Axis.Ticks.NUMBER),
                Axis.log2("prefill speed (tokens/s, log scale)", Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                notes));
    }
}
