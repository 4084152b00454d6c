package org.expertpool.plots;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The words around a figure: what all its rows share, on which basis they stand, and what was left out. */
final class Caption {
    private Caption() {}

    /** What the rows share: model, trace and device, and policy, scope and window where there is one of each. */
    static String subtitle(List<ResultsRow> rows) {
        List<String> parts = new ArrayList<>();
        for (String column : List.of("model", "trace", "device")) {
            parts.add(String.join(" / ", distinct(rows, column)));
        }
        for (String column : List.of("policy", "scope", "window")) {
            Collection<String> values = distinct(rows, column);
            parts.add(values.size() == 1 ? Words.value(column, values.iterator().next()) : "");
        }
        parts.removeIf(String::isEmpty);
        return String.join(" · ", parts);
    }

    /** The closing lines: basis, windows, repetitions, rows left out, and where the figure comes from. */
    static List<String> notes(ResultsTable table, List<ResultsRow> own, List<Series> series, boolean times) {
        List<String> notes = new ArrayList<>();
        notes.add(basis(own, series, times));
        addUnlessEmpty(notes, windows(own));
        if (series.stream().anyMatch(one -> one.label().contains(CurveSeries.EQUALS))) {
            notes.add("a" + CurveSeries.EQUALS + "b in the legend: both go through the same points.");
        }
        if (meet(series)) {
            notes.add("Where curves meet, the later in the legend lies on top.");
        }
        int repetitions = series.stream()
                .flatMap(one -> one.points().stream())
                .mapToInt(Point::repetitions)
                .max()
                .orElse(1);
        boolean ranged =
                series.stream().flatMap(one -> one.points().stream()).anyMatch(point -> point.low() < point.high());
        if (ranged) {
            notes.add("Points are medians of up to %d repetitions or seeds; bars run from the smallest to the largest."
                    .formatted(repetitions));
        }
        addUnlessEmpty(notes, leftOut(table));
        notes.add(provenance(table, own));
        return notes;
    }

    /** Whether two curves share a point, to a fifth of a per cent, so that one hides the other there. */
    private static boolean meet(List<Series> series) {
        Map<Double, List<Double>> seen = new HashMap<>();
        for (Series one : series) {
            for (Point point : one.reported() || !one.style().isLine() ? List.<Point>of() : one.points()) {
                List<Double> values = seen.computeIfAbsent(point.x(), any -> new ArrayList<>());
                if (values.stream().anyMatch(y -> Math.abs(y - point.y()) <= .002 * Math.abs(y))) {
                    return true;
                }
                values.add(point.y());
            }
        }
        return false;
    }

    private static void addUnlessEmpty(List<String> notes, String note) {
        if (!note.isEmpty()) {
            notes.add(note);
        }
    }

    private static String basis(List<ResultsRow> own, List<Series> series, boolean times) {
        Set<String> bases = new TreeSet<>(distinct(own, "basis"));
        List<String> parts = new ArrayList<>();
        if (bases.contains("modelled")) {
            parts.add("Modelled: counts are exact, from the policy replayed over the trace"
                    + (times ? "; times come from the cost model of the named device profile." : "."));
        }
        if (bases.contains("measured")) {
            parts.add("Measured: ran on the named device.");
        }
        if (series.stream().anyMatch(Series::reported)) {
            parts.add("Black marks are reported elsewhere, by the source named, and are no results of this run.");
        }
        if (series.stream().anyMatch(one -> one.label().startsWith(Series.REPORTED + "seed,"))) {
            parts.add("Seed: the public proposal this project starts from.");
        }
        return String.join(" ", parts);
    }

    private static String windows(List<ResultsRow> own) {
        Set<String> windows = new LinkedHashSet<>();
        for (ResultsRow row : own) {
            String window = row.text("window");
            if (!window.isEmpty()) {
                String start = row.text("initial").isEmpty() ? "" : ", start " + row.text("initial");
                double forwards = row.number("forwards").orElse(0)
                        + row.number("partition_forwards").orElse(0);
                String scored =
                        row.text("forwards").isEmpty() ? "" : ", " + Numbers.plain(forwards) + " forwards scored";
                windows.add(window + start + scored);
            }
        }
        // Where everything is resident there is no start: the same window, once.
        windows.removeIf(window -> !window.contains(", start ")
                && windows.stream()
                        .anyMatch(other ->
                                other.replaceFirst(", start [^,]*", "").equals(window) && !other.equals(window)));
        return windows.isEmpty() ? "" : "Windows: " + String.join("; ", windows) + ".";
    }

    private static String leftOut(ResultsTable table) {
        Map<String, Long> counts = table.leftOut();
        if (counts.isEmpty()) {
            return "";
        }
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        return "Left out: %d of %d rows (%s)."
                .formatted(
                        all,
                        table.rows().size(),
                        counts.entrySet().stream()
                                .map(count -> count.getValue() + " " + count.getKey())
                                .collect(Collectors.joining(", ")));
    }

    private static String provenance(ResultsTable table, List<ResultsRow> own) {
        List<String> parts = new ArrayList<>();
        Function<String, String> values = column -> String.join(" / ", distinct(own, column));
        for (String column : List.of("experiment", "engine", "backend", "git_revision")) {
            if (!values.apply(column).isEmpty()) {
                parts.add(column.replace('_', ' ') + " " + values.apply(column));
            }
        }
        parts.add("results schema " + ResultsTable.SCHEMA);
        parts.add(table.rows().size() + " rows");
        return String.join(" · ", parts);
    }

    /** A column's values in order of first appearance, without empty ones. */
    static Collection<String> distinct(List<ResultsRow> rows, String column) {
        return rows.stream()
                .map(row -> row.text(column))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
