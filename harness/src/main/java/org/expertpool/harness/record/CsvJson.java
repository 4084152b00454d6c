package org.expertpool.harness.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** CSV tables as JSON: an array of objects by column, numbers as numbers, empty cells as null. */
public final class CsvJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private CsvJson() {}

    /** The rows of a table with a header, as a document. */
    public static String of(String csv) throws IOException {
        return document(rows(csv));
    }

    /** A value as a document of its own, for people and programs. */
    public static String document(JsonNode value) throws IOException {
        return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n";
    }

    /** The rows of a table with a header. */
    public static ArrayNode rows(String csv) throws IOException {
        ArrayNode rows = MAPPER.createArrayNode();
        CSVFormat format = CSVFormat.RFC4180
                .builder()
                .setHeader()
                .setSkipHeaderRecord(true)
                .get();
        try (CSVParser parser = CSVParser.parse(csv, format)) {
            for (CSVRecord record : parser) {
                ObjectNode row = rows.addObject();
                for (String column : parser.getHeaderNames()) {
                    put(row, column, record.get(column));
                }
            }
        }
        return rows;
    }

    /** Puts a cell as what it reads as. */
    public static void put(ObjectNode row, String column, String cell) {
        if (cell.isEmpty()) {
            row.putNull(column);
        } else if (cell.matches("-?[0-9]{1,18}")) {
            row.put(column, Long.parseLong(cell));
        } else if (cell.matches("-?[0-9]+\\.[0-9]+")) {
            row.put(column, Double.parseDouble(cell));
        } else {
            row.put(column, cell);
        }
    }
}
