package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.expertpool.harness.record.MarkdownTable;

/**
 * A tidy table. A cell is a string, a whole number, a double, a decimal of its own digits, or null where there is no value, which is written as
 * nothing and never as 0.
 *
 * @param name lower case, the CSV file's name without its ending
 */
public record Table(String name, List<String> columns, List<List<Object>> rows) {
    /** An empty table. */
    public static Table of(String name, String... columns) {
        return new Table(name, List.of(columns), new ArrayList<>());
    }

    /** Adds a row, a cell per column. */
    public void add(List<Object> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException(name + ": " + cells.size() + " cells, expected " + columns.size());
        }
        rows.add(cells);
    }

    /** The table as CSV with a header. */
    public String csv() {
        StringBuilder text = new StringBuilder(String.join(",", columns)).append('\n');
        for (List<Object> row : rows) {
            text.append(row.stream().map(cell -> quoted(text(cell))).collect(Collectors.joining(",")))
                    .append('\n');
        }
        return text.toString();
    }

    /** The rows as maps from column to value. */
    public List<Map<String, Object>> maps() {
        List<Map<String, Object>> maps = new ArrayList<>();
        for (List<Object> row : rows) {
            Map<String, Object> map = new LinkedHashMap<>();
            for (int i = 0; i < columns.size(); i++) {
                map.put(columns.get(i), row.get(i));
            }
            maps.add(map);
        }
        return maps;
    }

    /** The table for people, without the columns that hold nothing. */
    public String markdown() {
        List<Integer> shown = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int column = i;
            if (rows.stream().anyMatch(row -> row.get(column) != null)) {
                shown.add(i);
            }
        }
        MarkdownTable table = new MarkdownTable(shown.stream().map(columns::get).collect(Collectors.toList()));
        rows.forEach(row -> table.add(shown.stream().map(i -> text(row.get(i))).collect(Collectors.toList())));
        return table.toString();
    }

    private static String text(Object cell) {
        if (cell == null) {
            return "";
        }
        return cell instanceof Double number ? String.format(Locale.ROOT, "%.6f", number) : cell.toString();
    }

    private static String quoted(String cell) {
        return cell.matches("(?s).*[,\"\n\r].*") ? '"' + cell.replace("\"", "\"\"") + '"' : cell;
    }
}
