package org.expertpool.harness.run;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.apache.commons.csv.DuplicateHeaderMode;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * Figures reported elsewhere, from {@code experiments/reported.csv}: an {@code id} and columns of the results schema,
 * {@code source} among them. A definition names the ids it wants beside its own results.
 */
final class ReportedFigures {
    private static final CSVFormat FORMAT = CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setNullString("")
            .setDuplicateHeaderMode(DuplicateHeaderMode.DISALLOW)
            .get();

    private ReportedFigures() {}

    /** The rows named by {@code ids} as they enter the results of {@code experiment}; the file is read only if there are any. */
    static List<ResultRow> select(Path file, String experiment, List<String> ids) throws IOException {
        if (ids.isEmpty()) {
            return List.of();
        }
        Map<String, ResultRow> figures = read(file);
        return ids.stream()
                .map(id -> Optional.ofNullable(figures.get(id))
                        .orElseThrow(() -> new BadInputException("reported names '" + id + "', expected an id of "
                                + file.getFileName() + ": " + String.join(", ", figures.keySet()))))
                .map(row -> row.toBuilder().put("experiment", experiment).build())
                .toList();
    }

    private static Map<String, ResultRow> read(Path file) throws IOException {
        Map<String, ResultRow> figures = new LinkedHashMap<>();
        try (Reader reader = Files.newBufferedReader(file);
                CSVParser parser = CSVParser.parse(reader, FORMAT)) {
            for (String column : parser.getHeaderNames()) {
                if (!column.equals("id") && ResultsSchema.column(column).isEmpty()) {
                    throw new BadInputException(
                            file + " line 1: unknown column " + column + ", expected id or one of the results schema");
                }
            }
            for (CSVRecord record : parser) {
                ResultRow row = row(file, record, parser.getCurrentLineNumber());
                if (figures.put(record.get("id"), row) != null) {
                    throw new BadInputException(file + " line " + parser.getCurrentLineNumber() + ": id "
                            + record.get("id") + " occurs twice");
                }
            }
        } catch (NoSuchFileException missing) {
            throw new BadInputException(file + ": no such file, expected the reported figures", missing);
        }
        return figures;
    }

    private static ResultRow row(Path file, CSVRecord record, long line) {
        if (!record.isConsistent() || record.get("id") == null || record.get("source") == null) {
            throw new BadInputException(
                    file + " line " + line + ": expected as many fields as the header, with id and source");
        }
        ResultRow.Builder row = ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("cell", "reported=" + record.get("id"))
                .put("repetition", 1)
                .put("status", "ok")
                .put("basis", "reported");
        record.toMap().forEach((column, value) -> {
            if (!column.equals("id")) {
                row.put(column, value);
            }
        });
        return row.build();
    }
}
