package org.expertpool.plots;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.apache.commons.csv.DuplicateHeaderMode;

/** A results file in memory, checked: schema 1, the columns every results file has, whole rows, known status and basis. */
record ResultsTable(String file, List<String> columns, List<ResultsRow> rows) {
    /** The schema number this reader understands. */
    static final String SCHEMA = "1";

    /** The columns every results file starts with. */
    static final List<String> REQUIRED = List.of(
            "schema",
            "experiment",
            "cell",
            "repetition",
            "status",
            "basis",
            "engine",
            "backend",
            "device",
            "model",
            "trace",
            "rows_per_layer",
            "policy",
            "graph_mode",
            "context",
            "seed");

    private static final Set<String> STATUSES = Set.of("ok", "failed", "refused", "skipped");
    private static final Set<String> BASES = Set.of("measured", "modelled", "reported");
    private static final CSVFormat FORMAT = CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setDuplicateHeaderMode(DuplicateHeaderMode.DISALLOW)
            .setRecordSeparator('\n')
            .get();

    ResultsTable {
        columns = List.copyOf(columns);
        rows = List.copyOf(rows);
    }

    /** Reads and checks a results file; throws {@link BadResultsException} naming the line or column that is wrong. */
    static ResultsTable read(Path csv) {
        try (Reader reader = Files.newBufferedReader(csv, StandardCharsets.UTF_8);
                CSVParser parser = CSVParser.parse(reader, FORMAT)) {
            return check(csv.toString(), parser);
        } catch (NoSuchFileException missing) {
            throw new BadResultsException(csv + ": no such file, expected the results.csv of a run", missing);
        } catch (MalformedInputException notUtf8) {
            throw new BadResultsException(csv + ": not UTF-8 text, expected the results.csv of a run", notUtf8);
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            throw new BadResultsException(
                    csv + ": " + unreadable.getMessage() + ", expected whole CSV rows", unreadable);
        } catch (IllegalArgumentException badHeader) {
            if (badHeader instanceof BadResultsException) {
                throw badHeader;
            }
            throw new BadResultsException(
                    csv + " line 1: " + badHeader.getMessage() + ", expected each column name once", badHeader);
        }
    }

    /**
     * The rows of several runs of one experiment as if they were of one, what was reported elsewhere once. Throws
     * {@link BadResultsException} where experiments differ, or a cell is in two runs: two states of one cell are no repetitions.
     */
    static ResultsTable joined(List<ResultsTable> tables) {
        if (tables.size() == 1) {
            return tables.get(0);
        }
        Set<String> columns = new LinkedHashSet<>();
        Map<String, ResultsRow> cells = new HashMap<>();
        List<ResultsRow> rows = new ArrayList<>();
        for (ResultsTable table : tables) {
            columns.addAll(table.columns());
            Set<String> before = Set.copyOf(cells.keySet());
            for (ResultsRow row : table.rows()) {
                String cell = row.text("cell");
                ResultsRow other = before.contains(cell) ? cells.get(cell) : null;
                if (other == null) {
                    cells.put(cell, row);
                    rows.add(row);
                } else if (!row.text("basis").equals("reported")) {
                    throw row.bad("cell", "a cell of one run alone, not of " + other.file() + " too", null);
                }
                if (!row.text("experiment").equals(rows.get(0).text("experiment"))) {
                    throw row.bad(
                            "experiment", "runs of one, as of " + tables.get(0).file(), null);
                }
            }
        }
        return new ResultsTable(tables.get(0).file(), List.copyOf(columns), rows);
    }

    private static ResultsTable check(String file, CSVParser parser) {
        List<String> columns = parser.getHeaderNames();
        List<String> missing = new ArrayList<>(REQUIRED);
        missing.removeAll(columns);
        if (!missing.isEmpty()) {
            String others = missing.size() == 1 ? "" : " nor %d others".formatted(missing.size() - 1);
            throw new BadResultsException("%s line 1: no column %s%s, expected the results.csv of a run"
                    .formatted(file, missing.get(0), others));
        }
        List<ResultsRow> rows = new ArrayList<>();
        for (CSVRecord csvRecord : parser) {
            rows.add(row(file, parser.getCurrentLineNumber(), columns, csvRecord));
        }
        if (rows.isEmpty()) {
            throw new BadResultsException(file + ": no rows after the header, expected at least one");
        }
        return new ResultsTable(file, columns, rows);
    }

    private static ResultsRow row(String file, long line, List<String> columns, CSVRecord csvRecord) {
        if (csvRecord.size() != columns.size()) {
            throw new BadResultsException("%s line %d: %d fields, expected %d as in the header"
                    .formatted(file, line, csvRecord.size(), columns.size()));
        }
        Map<String, String> cells = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            cells.put(columns.get(i), csvRecord.get(i));
        }
        ResultsRow row = new ResultsRow(file, line, cells);
        require(row, "schema", Set.of(SCHEMA), "schema " + SCHEMA + ", the one this version reads");
        require(row, "status", STATUSES, "ok, failed, refused or skipped");
        require(row, "basis", BASES, "measured, modelled or reported");
        return row;
    }

    private static void require(ResultsRow row, String column, Set<String> allowed, String expected) {
        if (!allowed.contains(row.text(column))) {
            throw row.bad(column, expected, null);
        }
    }

    boolean has(String column) {
        return columns.contains(column);
    }

    /** Rows that are results of this run: status ok, basis measured or modelled. */
    List<ResultsRow> own() {
        return ok(row -> !row.text("basis").equals("reported"));
    }

    /** Rows that quote figures reported elsewhere. */
    List<ResultsRow> reported() {
        return ok(row -> row.text("basis").equals("reported"));
    }

    private List<ResultsRow> ok(Predicate<ResultsRow> more) {
        return rows.stream()
                .filter(row -> row.text("status").equals("ok"))
                .filter(more)
                .toList();
    }

    /** How many rows have each status other than ok, by status. */
    Map<String, Long> leftOut() {
        Map<String, Long> counts = new TreeMap<>();
        for (ResultsRow row : rows) {
            if (!row.text("status").equals("ok")) {
                counts.merge(row.text("status"), 1L, Long::sum);
            }
        }
        return counts;
    }
}
