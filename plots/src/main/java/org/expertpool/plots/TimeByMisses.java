package org.expertpool.plots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * A token's time against its misses, of pools without anything beside the experts, next to what was reported at imposed
 * misses: at the same misses engines differ by their kernels alone.
 */
final class TimeByMisses implements Figure {
    private static final double MILLIS_PER_SECOND = 1000;

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<ResultsRow> own = table.own().stream()
                .filter(row -> row.text("engine").equals("pool"))
                .filter(row -> row.text("note").startsWith("experts alone"))
                .filter(row -> missPercent(row).isPresent() && millis(row).isPresent())
                .toList();
        double most = own.stream()
                .mapToDouble(row -> missPercent(row).orElseThrow())
                .max()
                .orElse(-1);
        List<ResultsRow> imposed = table.reported().stream()
                .filter(row -> row.text("rows_per_layer").isEmpty())
                .filter(row -> missPercent(row).isPresent() && millis(row).isPresent())
                .toList();
        double beyond = imposed.stream()
                .mapToDouble(row -> missPercent(row).orElseThrow())
                .filter(percent -> percent >= most)
                .min()
                .orElse(most);
        if (own.size() < 2 || imposed.isEmpty()) {
            return Optional.empty();
        }
        List<Curve> curves =
                Curves.of(own, TimeByMisses::missPercent, TimeByMisses::millis, row -> false, Set.of("memory"));
        List<Series> series = new ArrayList<>(CurveSeries.of(curves, "graph_mode", curve -> false));
        series.addAll(ReportedMarks.of(
                        imposed.stream()
                                .filter(row -> missPercent(row).orElseThrow() <= beyond)
                                .toList(),
                        TimeByMisses::missPercent,
                        TimeByMisses::millis,
                        row -> Numbers.plain(row.number("decode_tok_per_s").orElseThrow()) + " tok/s",
                        "")
                .series());
        return Optional.of(new FigureData(
                "time-by-misses",
                "Time of a token against misses, the routed experts alone",
                Caption.subtitle(own),
                Axis.linear("misses per 100 distinct experts selected", Axis.Ticks.NUMBER),
                Axis.linear("time of a token (ms)", Axis.Ticks.NUMBER),
                series,
                List.of(),
                List.of(),
                Caption.notes(table, own, series, true)));
    }

    private static OptionalDouble missPercent(ResultsRow row) {
        OptionalDouble hits = row.number("hit_ratio");
        return hits.isEmpty() ? hits : OptionalDouble.of(100 * (1 - hits.getAsDouble()));
    }

    private static OptionalDouble millis(ResultsRow row) {
        OptionalDouble speed = row.number("decode_tok_per_s");
        return speed.isEmpty() ? speed : OptionalDouble.of(MILLIS_PER_SECOND / speed.getAsDouble());
    }
}
