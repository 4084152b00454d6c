package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** A CSV table as JSON: an array of objects by column, numbers as numbers, empty cells as null. */
final class CsvJson {
    private CsvJson() {}

    static String of(String csv) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ArrayNode rows = mapper.createArrayNode();
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
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(rows) + "\n";
    }

    private static void put(ObjectNode row, String column, String cell) {
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
