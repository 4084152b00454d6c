package org.expertpool.harness.record;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.pool.BadInputException;

/** The text form of result rows: RFC 4180 quoting, {@code \n}, UTF-8, empty for no value. */
public final class ResultsCsv {
    private static final CSVFormat FORMAT = CSVFormat.RFC4180
            .builder()
            .setRecordSeparator('\n')
            .setNullString("")
            .get();

    private static final List<String> STATUS = List.of("ok", "failed", "refused", "skipped");
    private static final List<String> BASIS = List.of("measured", "modelled", "reported");

    private ResultsCsv() {}

    /** The header line of schema 1, with its line feed. */
    public static String header() {
        return FORMAT.format(ResultsSchema.names().toArray()) + "\n";
    }

    /** One row as a line of schema 1, with its line feed; refuses a column that the schema lacks. */
    public static String line(ResultRow row) {
        for (String column : row.values().keySet()) {
            if (ResultsSchema.column(column).isEmpty()) {
                throw new IllegalArgumentException(
                        "results schema " + ResultsSchema.VERSION + " has no column " + column);
            }
        }
        Object[] values = ResultsSchema.names().stream()
                .map(name -> row.get(name).orElse(null))
                .toArray();
        return FORMAT.format(values) + "\n";
    }

    /** Reads the {@code results.csv} of a run directory; a directory without one is bad input. */
    public static List<ResultRow> readDirectory(Path directory) throws IOException {
        return read(directory.resolve(ResultsSchema.FILE_NAME));
    }

    /** Reads a whole file. Unknown schema numbers, duplicate headers and short or long rows are bad input. */
    public static List<ResultRow> read(Path file) throws IOException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException missing) {
            throw new BadInputException(file + ": no such file, expected the results of a run", missing);
        } catch (IOException unreadable) {
            throw PathProblem.unreadable(file, unreadable);
        }
        return parse(file.toString(), bytes);
    }

    static List<ResultRow> parse(String name, byte[] bytes) throws IOException {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException malformed) {
            throw new BadInputException(name + ": not UTF-8 text", malformed);
        }
        List<ResultRow> rows = new ArrayList<>();
        try (CSVParser parser = CSVParser.parse(new StringReader(text), FORMAT)) {
            List<String> header = null;
            for (CSVRecord record : parser) {
                if (header == null) {
                    header = checkedHeader(name, record);
                } else {
                    ResultRow row = row(name, header, record, parser.getCurrentLineNumber());
                    requireKnown(name + " line " + parser.getCurrentLineNumber(), row);
                    rows.add(row);
                }
            }
            if (header == null) {
                throw new BadInputException(name + ": empty, expected a header line");
            }
        } catch (IOException | UncheckedIOException malformed) {
            throw new BadInputException(name + ": not readable as CSV: " + malformed.getMessage(), malformed);
        }
        return rows;
    }

    private static List<String> checkedHeader(String name, CSVRecord record) {
        List<String> header = record.toList();
        Set<String> seen = new HashSet<>();
        for (String column : header) {
            if (column == null || !seen.add(column)) {
                throw new BadInputException(name + " line 1: header "
                        + (column == null ? "has an empty column name" : "names " + column + " twice"));
            }
        }
        List<String> expected = ResultsSchema.names().subList(0, ResultsSchema.IDENTITY_COLUMNS);
        if (header.size() < expected.size()
                || !header.subList(0, expected.size()).equals(expected)) {
            throw new BadInputException(name + " line 1: header starts "
                    + String.join(",", header.subList(0, Math.min(3, header.size()))) + ", expected it to start "
                    + String.join(",", expected));
        }
        return header;
    }

    private static void requireNumber(String place, String column, String value) {
        ResultColumn.Kind kind = ResultsSchema.column(column)
                .map(ResultColumn::kind)
                .orElse(ResultColumn.Kind.LABEL); // a column of a later version
        if (kind == ResultColumn.Kind.LABEL || kind == ResultColumn.Kind.EXACT || value == null || value.isEmpty()) {
            return; // an exact one may hold a hash or a flag
        }
        try {
            if (Double.isFinite(Double.parseDouble(value))) {
                return;
            }
        } catch (NumberFormatException notANumber) {
            // the same message as for NaN
        }
        throw new BadInputException(place + ": " + column + " is '" + value + "', expected a finite number or nothing");
    }

    /** What says which row it is must be known: a row that no reader can place would count nowhere, or twice. */
    private static void requireKnown(String place, ResultRow row) {
        requireOneOf(place, row, "status", STATUS);
        requireOneOf(place, row, "basis", BASIS);
        if (!row.text("repetition").matches("[1-9]\\d{0,8}")) {
            throw new BadInputException(
                    place + ": repetition is '" + row.text("repetition") + "', expected a whole number from 1");
        }
    }

    private static void requireOneOf(String place, ResultRow row, String column, List<String> known) {
        if (!known.contains(row.text(column))) {
            throw new BadInputException(place + ": " + column + " is '" + row.text(column) + "', expected one of "
                    + String.join(", ", known));
        }
    }

    private static ResultRow row(String name, List<String> header, CSVRecord record, long line) {
        if (record.size() != header.size()) {
            throw new BadInputException(
                    name + " line " + line + ": has " + record.size() + " fields, expected " + header.size());
        }
        String schema = record.get(0);
        if (!Integer.toString(ResultsSchema.VERSION).equals(schema)) {
            throw new BadInputException(
                    name + " line " + line + ": schema is " + schema + ", expected " + ResultsSchema.VERSION);
        }
        ResultRow.Builder builder = ResultRow.builder();
        for (int i = 0; i < header.size(); i++) {
            requireNumber(name + " line " + line, header.get(i), record.get(i));
            builder.put(header.get(i), record.get(i));
        }
        return builder.build();
    }
}
