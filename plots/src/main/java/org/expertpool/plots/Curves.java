package org.expertpool.plots;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/** Groups rows into curves: a curve per combination of dimensions, a point per x. */
final class Curves {
    /** Columns whose differing values make different curves, in the order labels name them. */
    static final List<String> DIMENSIONS = List.of(
            "policy",
            "graph_mode",
            "scope",
            "window",
            "initial",
            "context",
            "engine",
            "basis",
            "backend",
            "device",
            "model",
            "trace");

    /** Keys of a cell id that stand in columns of their own, or are averaged over. */
    static final Set<String> KNOWN_CELL_KEYS =
            Set.of("rows", "rows_per_layer", "seed", "seeds", "repetition", "profile", "graph-mode");

    private Curves() {}

    /**
     * The curves of the rows that have both an x and a y, ordered by first appearance.
     *
     * @param ignored dimensions that can't change y, so that rows differing in them alone fall together
     */
    static List<Curve> of(
            List<ResultsRow> rows,
            Function<ResultsRow, OptionalDouble> x,
            Function<ResultsRow, OptionalDouble> y,
            Predicate<ResultsRow> hollow,
            Set<String> ignored) {
        Map<Map<String, String>, TreeMap<Double, List<ResultsRow>>> groups = new LinkedHashMap<>();
        for (ResultsRow row : rows) {
            OptionalDouble at = x.apply(row);
            if (at.isPresent() && y.apply(row).isPresent()) {
                groups.computeIfAbsent(key(row, ignored), any -> new TreeMap<>())
                        .computeIfAbsent(at.getAsDouble(), any -> new ArrayList<>())
                        .add(row);
            }
        }
        List<Curve> curves = new ArrayList<>();
        groups.forEach((key, byX) -> {
            List<Point> points = new ArrayList<>();
            byX.forEach((at, same) -> points.add(point(at, same, y, hollow)));
            curves.add(new Curve(key, points));
        });
        return curves;
    }

    private static Point point(
            double x, List<ResultsRow> same, Function<ResultsRow, OptionalDouble> y, Predicate<ResultsRow> hollow) {
        List<Double> values = same.stream()
                .map(row -> y.apply(row).orElseThrow())
                .sorted(Comparator.naturalOrder())
                .toList();
        boolean outline = same.stream().allMatch(hollow);
        return new Point(
                x, median(values), values.get(0), values.get(values.size() - 1), values.size(), outline, "", false);
    }

    /** Of one value or more, ascending. */
    static double median(List<Double> values) {
        int middle = values.size() / 2;
        return values.size() % 2 == 1 ? values.get(middle) : values.get(middle - 1) / 2 + values.get(middle) / 2;
    }

    private static Map<String, String> key(ResultsRow row, Set<String> ignored) {
        Map<String, String> key = new LinkedHashMap<>();
        for (String dimension : DIMENSIONS) {
            if (!ignored.contains(dimension)) {
                key.put(dimension, row.text(dimension));
            }
        }
        cellKeys(row.text("cell")).forEach((name, value) -> {
            if (!DIMENSIONS.contains(name) && !KNOWN_CELL_KEYS.contains(name) && !ignored.contains(name)) {
                key.put(name, value);
            }
        });
        return key;
    }

    /** The {@code key=value} pairs of a cell id; commas inside parentheses belong to the value. */
    static Map<String, String> cellKeys(String cell) {
        Map<String, String> pairs = new LinkedHashMap<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= cell.length(); i++) {
            char c = i < cell.length() ? cell.charAt(i) : ',';
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && (depth <= 0 || i == cell.length())) {
                String pair = cell.substring(start, i);
                int equals = pair.indexOf('=');
                if (equals > 0) {
                    pairs.put(pair.substring(0, equals), pair.substring(equals + 1));
                }
                start = i + 1;
            }
        }
        return pairs;
    }

    /**
     * The dimensions that tell these curves apart, the given one first: a dimension counts only where the ones before
     * it leave curves alike, but for controls: a curve without the name of its own reads as the default's.
     */
    static List<String> telling(List<Curve> curves, String first) {
        Set<String> all = new LinkedHashSet<>(List.of(first));
        all.addAll(DIMENSIONS);
        curves.forEach(
                curve -> all.addAll(curve.key().keySet().stream().sorted().toList()));
        List<String> telling = new ArrayList<>();
        int apart = 1;
        for (String dimension : all) {
            telling.add(dimension);
            int now = (int) curves.stream()
                    .map(curve -> telling.stream().map(curve::value).toList())
                    .distinct()
                    .count();
            boolean said = dimension.equals(first) || dimension.startsWith(Words.CONTROL);
            if (now == apart && !said) {
                telling.remove(dimension);
            }
            apart = now;
        }
        return telling;
    }
}
