package org.expertpool.harness.tables;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultColumn;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * Fills the tables of a Markdown page. A table stands between {@code <!-- table SPEC -->} and {@code <!-- end table -->};
 * see {@link TableSpec}. A line of the table is a cell of the run: numbers are medians over its repetitions.
 */
public final class RecordedTables {
    private static final Pattern MARKER = Pattern.compile("<!-- (table .*|end table) -->");
    private static final String END = "end table";
    private static final MathContext SHOWN = new MathContext(4);

    private final Path page;

    /** @param page names the page in errors; its folder is what result folders are relative to */
    public RecordedTables(Path page) {
        this.page = page;
    }

    /** The page's text with every marked table made anew from its results. */
    public String fill(String text) throws IOException {
        List<String> lines = new ArrayList<>();
        String open = null;
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            Matcher marker = MARKER.matcher(line);
            boolean marked = marker.matches();
            String place = page + " line " + number;
            if (marked && (open == null) == marker.group(1).equals(END)) {
                throw new BadInputException(place + ": "
                        + (open == null ? "ends a table that none began" : "begins a table within " + open)
                        + ", expected <!-- table ... --> and <!-- " + END + " --> in turn");
            }
            if (marked || open == null) {
                lines.add(line);
            }
            if (marked) {
                open = marker.group(1).equals(END) ? null : place;
                if (open != null) {
                    lines.add(table(TableSpec.parse(place, marker.group(1).substring("table ".length())), place));
                }
            }
        }
        if (open != null) {
            throw new BadInputException(open + ": begins a table that never ends, expected <!-- " + END + " -->");
        }
        return String.join("\n", lines);
    }

    private String table(TableSpec spec, String place) throws IOException {
        List<ResultColumn> columns = new ArrayList<>();
        for (String name : spec.columns().keySet()) {
            columns.add(column(name, place));
        }
        spec.where().keySet().forEach(name -> column(name, place));
        Path folder = page.toAbsolutePath().getParent();
        Map<String, List<ResultRow>> cells = new LinkedHashMap<>();
        for (ResultRow row : ResultsCsv.readDirectory(folder.resolve(spec.directory()))) {
            if (spec.where().entrySet().stream()
                    .allMatch(condition -> condition.getValue().contains(row.text(condition.getKey())))) {
                cells.computeIfAbsent(row.text("cell"), cell -> new ArrayList<>())
                        .add(row);
            }
        }
        if (cells.isEmpty()) {
            throw new BadInputException(place + ": no row of " + spec.directory() + " matches, expected at least one");
        }
        MarkdownTable table = new MarkdownTable(List.copyOf(spec.columns().values()));
        cells.values()
                .forEach(rows -> table.add(
                        columns.stream().map(column -> shown(column, rows)).toList()));
        return table.toString().stripTrailing();
    }

    private static ResultColumn column(String name, String place) {
        return ResultsSchema.column(name)
                .orElseThrow(() -> new BadInputException(
                        place + ": column '" + name + "', expected one of results schema " + ResultsSchema.VERSION));
    }

    private static String shown(ResultColumn column, List<ResultRow> rows) {
        if (column.kind() == ResultColumn.Kind.LABEL || column.kind() == ResultColumn.Kind.EXACT) {
            List<String> values =
                    rows.stream().map(row -> row.text(column.name())).distinct().toList();
            return String.join(" ", values);
        }
        double[] values = rows.stream()
                .flatMapToDouble(row -> row.number(column.name()).stream())
                .sorted()
                .toArray();
        if (values.length == 0) {
            return "";
        }
        double median = (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
        return new BigDecimal(median).round(SHOWN).toPlainString();
    }
}
