package org.expertpool.plots;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * Lines of a table that takes cells of a run apart, each joined to its cell's row of the results: what the line says stands
 * before what the row says.
 */
final class DetailRows {
    private static final CSVFormat FORMAT = CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setRecordSeparator('\n')
            .get();

    private DetailRows() {}

    /**
     * Reads {@code details/<name>.csv} of a run; nothing where it isn't there. Throws {@link BadResultsException} naming the
     * line that is short or whose cell the results do not know.
     */
    static List<ResultsRow> read(Path resultsDir, String name, ResultsTable results) {
        Path csv = resultsDir.resolve("details").resolve(name + ".csv");
        if (!Files.exists(csv)) {
            return List.of();
        }
        Map<String, ResultsRow> cells = new HashMap<>();
        results.own().forEach(row -> cells.putIfAbsent(row.text("cell"), row));
        List<ResultsRow> rows = new ArrayList<>();
        try (Reader reader = Files.newBufferedReader(csv, StandardCharsets.UTF_8);
                CSVParser parser = CSVParser.parse(reader, FORMAT)) {
            List<String> columns = parser.getHeaderNames();
            for (CSVRecord line : parser) {
                rows.add(joined(csv.toString(), parser.getCurrentLineNumber(), columns, line, cells));
            }
        } catch (IOException | UncheckedIOException | IllegalArgumentException unreadable) {
            if (unreadable instanceof BadResultsException bad) {
                throw bad;
            }
            throw new BadResultsException(
                    csv + ": " + unreadable.getMessage() + ", expected whole CSV rows", unreadable);
        }
        return rows;
    }

    private static ResultsRow joined(
            String file, long number, List<String> columns, CSVRecord line, Map<String, ResultsRow> cells) {
        if (!line.isConsistent()) {
            throw new BadResultsException("%s line %d: %d fields, expected %d as in the header"
                    .formatted(file, number, line.size(), columns.size()));
        }
        Map<String, String> values = new LinkedHashMap<>(line.toMap());
        ResultsRow row = cells.get(values.getOrDefault("cell", ""));
        if (row == null) {
            throw new BadResultsException("%s line %d, column cell: '%s', expected a cell of results.csv"
                    .formatted(file, number, values.getOrDefault("cell", "")));
        }
        Map<String, String> joined = new LinkedHashMap<>(row.cells());
        joined.putAll(values);
        return new ResultsRow(file, number, joined);
    }
}
