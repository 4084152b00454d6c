package org.expertpool.harness.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.DoubleStream;
import org.expertpool.harness.record.ResultColumn;
import org.expertpool.harness.record.ResultColumn.Kind;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * Compares two runs cell by cell. Cells match by their id; rows that are not ok, and reported rows, take no part.
 *
 * @param lines one per matching cell and metric that both sides have, in A's order
 * @param onlyInA cells without an ok row in B
 * @param onlyInB cells without an ok row in A
 */
public record Comparison(List<Line> lines, List<String> onlyInA, List<String> onlyInB) {
    /**
     * One cell and metric.
     *
     * @param bases basis of A, and of B where it differs
     * @param medianA median of A's repetitions; NaN for text
     * @param ratio B over A; NaN for exact columns and where A's median is zero
     */
    public record Line(
            String cell,
            ResultColumn metric,
            String bases,
            double medianA,
            double medianB,
            int repetitions,
            MedianRatio ratio,
            Verdict verdict) {}

    public Comparison {
        lines = List.copyOf(lines);
        onlyInA = List.copyOf(onlyInA);
        onlyInB = List.copyOf(onlyInB);
    }

    /** Compares the rows of two runs; {@code margin} is the half-width of the band that counts as the same. */
    public static Comparison of(List<ResultRow> rowsA, List<ResultRow> rowsB, double margin) {
        Map<String, List<ResultRow>> a = byCell(rowsA);
        Map<String, List<ResultRow>> b = byCell(rowsB);
        List<Line> lines = new ArrayList<>();
        for (Map.Entry<String, List<ResultRow>> entry : a.entrySet()) {
            List<ResultRow> inB = b.get(entry.getKey());
            if (inB != null) {
                addLines(lines, entry.getKey(), entry.getValue(), inB, margin);
            }
        }
        return new Comparison(lines, without(a.keySet(), b.keySet()), without(b.keySet(), a.keySet()));
    }

    /** Whether the runs have a cell in common: without one there is nothing to compare. */
    public boolean hasCellInBoth() {
        return !lines.isEmpty();
    }

    public boolean hasSlower() {
        return lines.stream().anyMatch(line -> line.verdict() == Verdict.SLOWER);
    }

    private static Map<String, List<ResultRow>> byCell(List<ResultRow> rows) {
        Map<String, List<ResultRow>> cells = new LinkedHashMap<>();
        for (ResultRow row : rows) {
            if (row.isOk() && !row.text("basis").equals("reported")) {
                cells.computeIfAbsent(row.text("cell"), cell -> new ArrayList<>())
                        .add(row);
            }
        }
        return cells;
    }

    private static List<String> without(Collection<String> cells, Set<String> others) {
        Set<String> rest = new LinkedHashSet<>(cells);
        rest.removeAll(others);
        return List.copyOf(rest);
    }

    private static void addLines(List<Line> lines, String cell, List<ResultRow> a, List<ResultRow> b, double margin) {
        String basisA = a.get(0).text("basis");
        String basisB = b.get(0).text("basis");
        String bases = basisA.equals(basisB) ? basisA : basisA + "/" + basisB;
        for (ResultColumn metric : ResultsSchema.COLUMNS) {
            List<String> valuesA = values(a, metric);
            List<String> valuesB = values(b, metric);
            if (metric.isMetric() && !valuesA.isEmpty() && !valuesB.isEmpty()) {
                lines.add(line(cell, metric, bases, valuesA, valuesB, margin));
            }
        }
    }

    private static List<String> values(List<ResultRow> rows, ResultColumn metric) {
        return rows.stream()
                .map(row -> row.text(metric.name()))
                .filter(value -> !value.isEmpty())
                .toList();
    }

    private static Line line(
            String cell, ResultColumn metric, String bases, List<String> a, List<String> b, double margin) {
        int repetitions = Math.min(a.size(), b.size());
        if (metric.kind() == Kind.EXACT) {
            Set<String> distinct = new LinkedHashSet<>(a);
            distinct.addAll(b);
            Verdict verdict = distinct.size() == 1 ? Verdict.EQUAL : Verdict.DIFFERENT;
            return new Line(
                    cell, metric, bases, exactMedian(a), exactMedian(b), repetitions, MedianRatio.UNDEFINED, verdict);
        }
        double[] numbersA = numbers(cell, metric, a);
        double[] numbersB = numbers(cell, metric, b);
        MedianRatio ratio = MedianRatio.of(numbersA, numbersB);
        // Zeros have no ratio and still are the same.
        boolean identical = DoubleStream.concat(Arrays.stream(numbersA), Arrays.stream(numbersB))
                        .distinct()
                        .count()
                == 1;
        Verdict verdict = identical && repetitions >= Verdict.MIN_REPETITIONS
                ? Verdict.SAME
                : Verdict.of(ratio, repetitions, margin, metric.kind());
        return new Line(
                cell,
                metric,
                bases,
                MedianRatio.median(numbersA),
                MedianRatio.median(numbersB),
                repetitions,
                ratio,
                verdict);
    }

    // An exact column may hold a hash or a flag, which has no median.
    private static double exactMedian(List<String> values) {
        try {
            return MedianRatio.median(
                    values.stream().mapToDouble(Double::parseDouble).toArray());
        } catch (NumberFormatException text) {
            return Double.NaN;
        }
    }

    private static double[] numbers(String cell, ResultColumn metric, List<String> values) {
        try {
            return values.stream().mapToDouble(Double::parseDouble).toArray();
        } catch (NumberFormatException notANumber) {
            throw new BadInputException(
                    "cell " + cell + ": " + metric.name() + " is " + values + ", expected numbers", notANumber);
        }
    }
}
