package org.expertpool.harness.tables;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.expertpool.harness.compare.MedianRatio;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultColumn;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * Fills the tables of a Markdown page. A table stands between {@code <!-- table SPEC -->} and {@code <!-- end table -->};
 * see {@link TableSpec}. Of a run, a line of the table is a cell, and numbers are medians over its repetitions; of another
 * CSV file, a line is a line of the file.
 */
public final class RecordedTables {
    private static final Pattern MARKER = Pattern.compile("<!-- (table .*|end table) -->");
    private static final Pattern FRACTION = Pattern.compile("-?[0-9]+\\.[0-9]+");
    private static final CSVFormat WITH_HEADER =
            CSVFormat.RFC4180.builder().setHeader().setSkipHeaderRecord(true).get();
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
        Path folder = page.toAbsolutePath().getParent();
        MarkdownTable table = new MarkdownTable(List.copyOf(spec.columns().values()));
        List<List<String>> lines = spec.isFile()
                ? ofFile(spec, folder.resolve(spec.sources().get(0)), place)
                : ofRuns(spec, folder, place);
        if (lines.isEmpty()) {
            throw new BadInputException(
                    place + ": no row of " + String.join(", ", spec.sources()) + " matches, expected at least one");
        }
        lines.forEach(table::add);
        return table.toString().stripTrailing();
    }

    private static List<List<String>> ofFile(TableSpec spec, Path file, String place) throws IOException {
        List<List<String>> lines = new ArrayList<>();
        try (CSVParser parser = CSVParser.parse(file, StandardCharsets.UTF_8, WITH_HEADER)) {
            List<String> names = parser.getHeaderNames();
            Stream.concat(spec.columns().keySet().stream(), spec.where().keySet().stream())
                    .filter(name -> !names.contains(name))
                    .forEach(name -> {
                        throw new BadInputException(
                                place + ": column '" + name + "', expected one of " + String.join(", ", names));
                    });
            for (CSVRecord line : parser) {
                if (matches(spec, line::get)) {
                    lines.add(spec.columns().keySet().stream()
                            .map(name -> shown(line.get(name)))
                            .toList());
                }
            }
        } catch (NoSuchFileException missing) {
            throw new BadInputException(
                    place + ": no file " + spec.sources().get(0) + ", expected a CSV file", missing);
        }
        return lines;
    }

    private static List<List<String>> ofRuns(TableSpec spec, Path folder, String place) throws IOException {
        List<ResultColumn> columns = new ArrayList<>();
        for (String name : spec.columns().keySet()) {
            columns.add(column(name, place));
        }
        spec.where().keySet().forEach(name -> column(name, place));
        Map<String, List<ResultRow>> cells = new LinkedHashMap<>();
        for (String source : spec.sources()) {
            for (ResultRow row : ResultsCsv.readDirectory(folder.resolve(source))) {
                if (matches(spec, row::text)) {
                    cells.computeIfAbsent(source + row.text("cell"), cell -> new ArrayList<>())
                            .add(row);
                }
            }
        }
        return cells.values().stream()
                .map(rows -> columns.stream().map(column -> shown(column, rows)).toList())
                .toList();
    }

    private static boolean matches(TableSpec spec, UnaryOperator<String> value) {
        return spec.where().entrySet().stream().allMatch(condition -> {
            String text = value.apply(condition.getKey());
            return condition.getValue().contains(text) || condition.getValue().contains(text.replace(' ', '_'));
        });
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
                .toArray();
        if (values.length == 0) {
            return "";
        }
        return new BigDecimal(MedianRatio.median(values)).round(SHOWN).toPlainString();
    }

    /** A fraction to as many digits as the median of a run; everything else as it stands. */
    private static String shown(String value) {
        return FRACTION.matcher(value).matches()
                ? new BigDecimal(value).round(SHOWN).toPlainString()
                : value;
    }
}
