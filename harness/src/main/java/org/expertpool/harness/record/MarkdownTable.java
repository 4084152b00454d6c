package org.expertpool.harness.record;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A Markdown table whose columns line up as plain text too; columns of numbers are set to the right. */
public final class MarkdownTable {
    private final List<String> header;
    private final List<List<String>> rows = new ArrayList<>();

    public MarkdownTable(List<String> header) {
        this.header = List.copyOf(header);
    }

    public void add(List<String> row) {
        if (row.size() != header.size()) {
            throw new IllegalArgumentException("row has " + row.size() + " cells, expected " + header.size());
        }
        rows.add(row.stream().map(cell -> cell.replace("|", "\\|")).toList());
    }

    @Override
    public String toString() {
        List<Integer> columns = IntStream.range(0, header.size()).boxed().toList();
        List<Integer> widths = columns.stream().map(this::width).toList();
        List<Boolean> right = columns.stream().map(this::isNumeric).toList();
        StringBuilder text = new StringBuilder(line(header, widths, right));
        text.append(columns.stream()
                .map(i -> "-".repeat(widths.get(i) + 1) + (right.get(i) ? ":" : "-"))
                .collect(Collectors.joining("|", "|", "|\n")));
        rows.forEach(row -> text.append(line(row, widths, right)));
        return text.toString();
    }

    private static String line(List<String> cells, List<Integer> widths, List<Boolean> right) {
        return IntStream.range(0, cells.size())
                .mapToObj(i -> {
                    String space = " ".repeat(widths.get(i) - cells.get(i).length());
                    return right.get(i) ? space + cells.get(i) : cells.get(i) + space;
                })
                .collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    private int width(int column) {
        int widest =
                rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
        return Math.max(Math.max(widest, 3), header.get(column).length());
    }

    private boolean isNumeric(int column) {
        return rows.stream().allMatch(row -> row.get(column).matches("-?[0-9.,]*"));
    }
}
