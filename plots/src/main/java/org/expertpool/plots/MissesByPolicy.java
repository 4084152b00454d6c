package org.expertpool.plots;

import java.awt.Color;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every policy's misses at one marked N as a bar of its parts, the fewest on top: compulsory, capacity, admission, victim.
 *
 * @param index which of the marked values of N, ascending
 */
record MissesByPolicy(int index) implements Figure {
    private static final int FEWEST = 6;

    private static final Map<String, Color> PARTS = Map.of(
            "compulsory", HouseStyle.INK,
            "capacity", new Color(0x8A, 0x8A, 0x8A),
            "admission", new Color(0xE6, 0x9F, 0x00),
            "victim", new Color(0x56, 0xB4, 0xE9));

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        List<Double> marked = MarkedRows.of(table);
        if (index >= marked.size()) {
            return Optional.empty();
        }
        double n = marked.get(index);
        List<ResultsRow> rows = table.own().stream()
                .filter(row -> row.number("rows_per_layer").orElse(0) == n)
                .filter(row -> row.number("victim_misses").isPresent())
                .filter(row -> row.number("selections").orElse(0) > 0)
                .sorted(Comparator.comparingDouble(
                                (ResultsRow row) -> row.number("misses").orElse(0))
                        .reversed())
                .toList();
        List<Curve> curves = Curves.of(
                rows,
                row -> row.number("rows_per_layer"),
                row -> row.number("misses"),
                row -> false,
                HitRatioByRows.NOT_ROUTING);
        if (rows.size() < FEWEST || curves.size() != rows.size()) {
            return Optional.empty(); // too few to compare, or seeds and repetitions, which a bar can't show
        }
        List<String> telling = Curves.telling(curves, "policy");
        List<String> names =
                curves.stream().map(curve -> Words.label(curve, telling)).toList();
        List<Series> series = parts(rows);
        List<String> notes = new ArrayList<>(List.of(
                "Compulsory, capacity and admission are the same for all policies of a scope and start: Belady's own. Where a policy"
                        + " misses less than Belady without bypass, its bar ends before the admission part does."));
        notes.addAll(Caption.notes(table, rows, series, false));
        return Optional.of(new FigureData(
                "misses-by-policy-" + Numbers.plain(n),
                "Where misses come from, N = " + Numbers.plain(n),
                Caption.subtitle(rows),
                Axis.linear("misses per distinct expert selected (%)", Axis.Ticks.PERCENT),
                Axis.ofBars("rank, fewest misses first", names),
                series,
                List.of(),
                List.of(),
                notes));
    }

    /** Ends of the bars' parts. A negative victim part takes away from the others, the nearest first. */
    private static List<Series> parts(List<ResultsRow> rows) {
        List<Series> series = new ArrayList<>();
        for (String part : List.of("compulsory", "capacity", "admission", "victim")) {
            List<Point> ends = new ArrayList<>();
            for (int i = 0; i < rows.size(); i++) {
                double misses = rows.get(i).number("misses").orElseThrow();
                double end = Math.min(misses, sumTo(rows.get(i), part));
                ends.add(Point.of(100 * end / rows.get(i).number("selections").orElseThrow(), i));
            }
            series.add(
                    new Series(part, new SeriesStyle(PARTS.get(part), MarkerShape.SQUARE, SeriesStyle.Dash.BAR), ends));
        }
        return series;
    }

    private static double sumTo(ResultsRow row, String part) {
        double sum = 0;
        for (String each : List.of("compulsory", "capacity", "admission", "victim")) {
            sum += row.number(each + "_misses").orElse(0);
            if (each.equals(part)) {
                break;
            }
        }
        return sum;
    }
}
