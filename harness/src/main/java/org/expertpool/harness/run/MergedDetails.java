package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.expertpool.harness.analysis.Table;
import org.expertpool.pool.BadInputException;

/**
 * The tables of cells taken apart, of several shards. Lines that name their cell stand in the order of the cells; a
 * table about the trace comes from the shard whose cell is the first, as an unsharded run would have taken it.
 */
final class MergedDetails {
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setHeader().setSkipHeaderRecord(true).get();
    private static final String CELL = "cell";
    private static final String ENDING = ".csv";

    private final Map<String, Integer> order = new LinkedHashMap<>();

    private MergedDetails(List<Cell> cells) {
        cells.forEach(cell -> order.put(cell.id(), order.size()));
    }

    /** The tables of all shards; none where no shard took a cell apart. */
    static List<Table> of(List<Cell> cells, Collection<Path> shards) throws IOException {
        return new MergedDetails(cells).merge(shards);
    }

    private List<Table> merge(Collection<Path> shards) throws IOException {
        Map<String, Table> whole = new TreeMap<>();
        int first = Integer.MAX_VALUE; // place of the first cell so far, whose shard speaks for the trace
        for (Path shard : shards) {
            List<Table> tables = read(shard.resolve(RunDirectory.DETAILS));
            int own = tables.stream().mapToInt(this::firstCell).min().orElse(Integer.MAX_VALUE);
            for (Table table : tables) {
                if (namesCells(table)) {
                    Table merged = whole.computeIfAbsent(
                            table.name(), name -> new Table(name, table.columns(), new ArrayList<>()));
                    if (!merged.columns().equals(table.columns())) {
                        throw new BadInputException(shard + ": its details/" + table.name() + ENDING
                                + " has other columns, expected those of the other shards");
                    }
                    merged.rows().addAll(table.rows());
                } else if (own < first) {
                    whole.put(table.name(), table);
                }
            }
            first = Math.min(first, own);
        }
        whole.values().stream()
                .filter(MergedDetails::namesCells)
                .forEach(table -> table.rows().sort(Comparator.comparing(row -> place(table, row))));
        return List.copyOf(whole.values());
    }

    private static boolean namesCells(Table table) {
        return table.columns().get(0).equals(CELL);
    }

    private int firstCell(Table table) {
        return namesCells(table)
                ? table.rows().stream().mapToInt(row -> place(table, row)).min().orElse(Integer.MAX_VALUE)
                : Integer.MAX_VALUE;
    }

    private int place(Table table, List<Object> row) {
        Integer place = order.get((String) row.get(0));
        if (place == null) {
            throw new BadInputException("details/" + table.name() + ENDING + " of a shard names cell " + row.get(0)
                    + ", expected cells of the definition");
        }
        return place;
    }

    private static List<Table> read(Path folder) throws IOException {
        List<Table> tables = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return tables;
        }
        try (Stream<Path> content = Files.list(folder)) {
            for (Path file : content.filter(path -> path.toString().endsWith(ENDING))
                    .sorted()
                    .toList()) {
                tables.add(table(file));
            }
        }
        return tables;
    }

    private static Table table(Path file) throws IOException {
        String name = file.getFileName().toString();
        try (CSVParser parser = CSVParser.parse(Files.readString(file), FORMAT)) {
            if (parser.getHeaderNames().isEmpty()) {
                throw new BadInputException(file + ": is empty, expected a table");
            }
            Table table = new Table(
                    name.substring(0, name.length() - ENDING.length()), parser.getHeaderNames(), new ArrayList<>());
            for (CSVRecord record : parser) {
                if (!record.isConsistent()) {
                    throw new BadInputException(
                            file + ": line " + parser.getCurrentLineNumber() + " has " + record.size()
                                    + " cells, expected " + table.columns().size());
                }
                table.add(new ArrayList<>(record.toList()));
            }
            return table;
        }
    }
}
