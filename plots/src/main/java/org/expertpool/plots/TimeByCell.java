package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The time of a token as a bar for each cell measured on a device, where engines are compared, or what no axis of numbers
 * orders; a figure for each window. A bar is the median over repetitions.
 */
final class TimeByCell {
    private static final int MOST_BARS = 32;
    private static final int FEWEST_ENGINES = 3;
    private static final String MILLIS = "decode_ms_per_token";

    private static final Set<String> OF_SOME_ENGINES = Set.of("rows_per_layer", "policy", "scope");

    private static final SeriesStyle STYLE = new SeriesStyle(HouseStyle.SKY, MarkerShape.SQUARE, SeriesStyle.Dash.BAR);

    private TimeByCell() {}

    /** A figure per window; none where curves show these cells, or where they are too many. */
    static List<FigureData> of(ResultsTable table) {
        List<ResultsRow> rows = table.own().stream()
                .filter(row -> row.text("backend").equals("cuda"))
                .filter(row -> row.number(MILLIS).isPresent())
                .toList();
        boolean engines = Caption.distinct(rows, "engine").size() >= FEWEST_ENGINES;
        boolean ways = List.of("ple", "context").stream()
                .anyMatch(column -> Caption.distinct(rows, column).size() > 1);
        boolean ordered = List.of("rows_per_layer", "streams", "input_tokens", "chunk_tokens").stream()
                .anyMatch(column -> Caption.distinct(rows, column).size() > 1);
        if (!engines && !ways && ordered) {
            return List.of();
        }
        Map<String, List<ResultsRow>> windows = rows.stream()
                .collect(Collectors.groupingBy(row -> row.text("window"), LinkedHashMap::new, Collectors.toList()));
        List<FigureData> figures = new ArrayList<>();
        windows.forEach((window, some) ->
                ofWindow(table, some, windows.size() > 1 ? "-" + window : "").ifPresent(figures::add));
        return figures;
    }

    private static Optional<FigureData> ofWindow(ResultsTable table, List<ResultsRow> rows, String suffix) {
        Map<Map<String, String>, List<ResultsRow>> cells = new LinkedHashMap<>();
        rows.forEach(
                row -> cells.computeIfAbsent(key(row), any -> new ArrayList<>()).add(row));
        if (cells.size() < 2 || cells.size() > MOST_BARS) {
            return Optional.empty();
        }
        List<String> names = new ArrayList<>();
        List<Point> ends = new ArrayList<>();
        Set<String> varying = varying(List.copyOf(cells.keySet()));
        List<Map.Entry<Map<String, String>, List<ResultsRow>>> upwards = new ArrayList<>();
        cells.entrySet().forEach(cell -> upwards.add(0, cell));
        for (Map.Entry<Map<String, String>, List<ResultsRow>> cell : upwards) {
            double millis = median(cell.getValue());
            names.add(name(cell.getKey(), varying) + ": " + Numbers.plain(millis) + " ms");
            ends.add(Point.of(millis, ends.size()));
        }
        List<Series> series = List.of(new Series("time of a token", STYLE, ends));
        List<String> notes = new ArrayList<>();
        if (rows.size() > cells.size()) {
            notes.add("Bars are medians over repetitions.");
        }
        notes.addAll(Caption.notes(table, rows, series, true));
        return Optional.of(new FigureData(
                "time-by-cell" + suffix,
                "Time of a token, cell by cell" + DetailFigure.rows(rows),
                Caption.subtitle(rows),
                Axis.linear(Words.column(MILLIS), Axis.Ticks.NUMBER),
                Axis.ofBars("cell", names),
                series,
                List.of(),
                List.of(),
                notes));
    }

    /** What a cell is by, engine and N first; its memory as the cell's id has it, which says GiB. */
    private static Map<String, String> key(ResultsRow row) {
        Map<String, String> key = new LinkedHashMap<>();
        for (String column : List.of("experiment", "engine", "rows_per_layer", "policy", "scope", "graph_mode")) {
            key.put(column, row.text(column));
        }
        key.put("context", row.text("context"));
        new TreeMap<>(Curves.cellKeys(row.text("cell"))).forEach((name, value) -> {
            if (!Curves.KNOWN_CELL_KEYS.contains(name)) {
                key.putIfAbsent(name, value);
            }
        });
        return key;
    }

    /** What tells cells apart. That only some engines have rows and a policy says nothing beyond the engine. */
    private static Set<String> varying(List<Map<String, String>> keys) {
        Set<String> all = new LinkedHashSet<>();
        keys.forEach(key -> all.addAll(key.keySet()));
        all.removeIf(name -> keys.stream()
                        .map(key -> key.getOrDefault(name, ""))
                        .filter(value -> !(value.isEmpty() && OF_SOME_ENGINES.contains(name)))
                        .distinct()
                        .count()
                < 2);
        return all;
    }

    private static String name(Map<String, String> key, Set<String> varying) {
        return varying.stream()
                .map(name -> List.of("experiment", "engine", "memory").contains(name)
                        ? key.getOrDefault(name, "")
                        : Words.value(name, key.getOrDefault(name, "")))
                .filter(word -> !word.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private static double median(List<ResultsRow> rows) {
        return Curves.median(rows.stream()
                .map(row -> row.number(MILLIS).orElseThrow())
                .sorted()
                .toList());
    }
}
