package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.expertpool.harness.compare.MedianRatio;
import org.expertpool.harness.record.ResultColumn;
import org.expertpool.harness.record.ResultRow;

/**
 * A metric is so many times that of a reference, by medians over repetitions. Where reference rows stand along a column,
 * the metric is interpolated between them at the value that the judged row has there: the time of something, linearly; a
 * rate, which is one over a time, by its inverse. Outside of them nothing is judged.
 *
 * @param where the rows that are judged, cell by cell
 * @param metric the column that is compared
 * @param reference the rows they are compared with: one cell, or several along a column
 * @param along the column; empty for a single reference
 * @param min least ratio allowed; empty for no limit
 * @param max greatest ratio allowed; empty for no limit
 */
record RatioCheck(
        String name,
        RowSelection where,
        ResultColumn metric,
        RowSelection reference,
        Optional<String> along,
        OptionalDouble min,
        OptionalDouble max)
        implements Check {
    @Override
    public Outcome apply(List<ResultRow> rows) {
        Map<String, List<ResultRow>> judged =
                byCell(rows.stream().filter(where::selects).toList());
        Map<String, List<ResultRow>> references =
                byCell(rows.stream().filter(reference::selectsReference).toList());
        List<String> found = new ArrayList<>();
        List<String> violations = new ArrayList<>();
        List<String> notJudged = new ArrayList<>();
        int count = 0;
        for (Map.Entry<String, List<ResultRow>> cell : judged.entrySet()) {
            OptionalDouble own = median(cell.getValue(), metric.name());
            OptionalDouble other = own.isEmpty() ? own : reference(cell.getValue(), references);
            if (other.isEmpty()) {
                notJudged.add(cell.getKey() + " has no " + metric.name() + " with " + reference + " to compare with");
                continue;
            }
            count += cell.getValue().size();
            double ratio = own.getAsDouble() / other.getAsDouble();
            boolean kept =
                    (min.isEmpty() || ratio >= min.getAsDouble()) && (max.isEmpty() || ratio <= max.getAsDouble());
            (kept ? found : violations).add(words(cell, ratio, other.getAsDouble()));
        }
        return new Outcome(name, count, found, violations, notJudged);
    }

    private String words(Map.Entry<String, List<ResultRow>> cell, double ratio, double other) {
        String place = along.map(column -> String.format(
                        Locale.ROOT,
                        " at %s %.4f",
                        column,
                        median(cell.getValue(), column).orElseThrow()))
                .orElse("");
        return String.format(Locale.ROOT, "%s has %.3f times %.4g%s", cell.getKey(), ratio, other, place);
    }

    private OptionalDouble reference(List<ResultRow> cell, Map<String, List<ResultRow>> references) {
        if (along.isEmpty()) {
            return references.size() == 1
                    ? median(references.values().iterator().next(), metric.name())
                    : OptionalDouble.empty();
        }
        OptionalDouble place = median(cell, along.get());
        return place.isEmpty() ? place : interpolated(place.getAsDouble(), points(references.values()));
    }

    private TreeMap<Double, Double> points(Iterable<List<ResultRow>> references) {
        TreeMap<Double, Double> points = new TreeMap<>();
        for (List<ResultRow> cell : references) {
            OptionalDouble place = median(cell, along.orElseThrow());
            OptionalDouble value = median(cell, metric.name());
            if (place.isPresent() && value.isPresent()) {
                points.put(place.getAsDouble(), value.getAsDouble());
            }
        }
        return points;
    }

    private OptionalDouble interpolated(double place, TreeMap<Double, Double> points) {
        Map.Entry<Double, Double> low = points.floorEntry(place);
        Map.Entry<Double, Double> high = points.ceilingEntry(place);
        if (low == null || high == null) {
            return OptionalDouble.empty();
        }
        double share = low.getKey().equals(high.getKey()) ? 0 : (place - low.getKey()) / (high.getKey() - low.getKey());
        boolean rate = metric.kind() == ResultColumn.Kind.HIGHER_IS_BETTER;
        double time = (rate ? 1 / low.getValue() : low.getValue()) * (1 - share)
                + (rate ? 1 / high.getValue() : high.getValue()) * share;
        return OptionalDouble.of(rate ? 1 / time : time);
    }

    private static Map<String, List<ResultRow>> byCell(List<ResultRow> rows) {
        Map<String, List<ResultRow>> cells = new LinkedHashMap<>();
        rows.forEach(row -> cells.computeIfAbsent(row.text("basis") + " " + row.text("cell"), any -> new ArrayList<>())
                .add(row));
        return cells;
    }

    private static OptionalDouble median(List<ResultRow> rows, String column) {
        double[] values = rows.stream()
                .flatMapToDouble(row -> row.number(column).stream())
                .toArray();
        return values.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(MedianRatio.median(values));
    }
}
