package org.expertpool.harness.run;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.expertpool.pool.BadInputException;

/**
 * What a layer of one token takes in a graph, microseconds, from {@code layer.csv} of {@code bench --backend cuda}.
 *
 * @param residentMicros with every expert resident
 * @param poolMicros in a pool, by imposed misses; 0 among them, and two others
 */
record LayerTable(double residentMicros, TreeMap<Integer, Double> poolMicros) {
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setHeader().setSkipHeaderRecord(true).get();
    private static final List<String> COLUMNS = List.of("engine", "mode", "tokens", "misses", "median_us_per_layer");

    static LayerTable read(Path file) throws IOException {
        Double resident = null;
        TreeMap<Integer, Double> pool = new TreeMap<>();
        try (Reader reader = Files.newBufferedReader(file);
                CSVParser parser = CSVParser.parse(reader, FORMAT)) {
            if (!parser.getHeaderNames().containsAll(COLUMNS)) {
                throw new BadInputException(file + " line 1: expected columns " + String.join(", ", COLUMNS));
            }
            for (CSVRecord line : parser) {
                if (!line.get("mode").equals("graph") || !line.get("tokens").equals("1")) {
                    continue;
                }
                if (line.get("engine").equals(Axis.RESIDENT)) {
                    resident = number(file, line, "median_us_per_layer");
                } else if (line.get("engine").equals(Axis.POOL)) {
                    pool.put((int) number(file, line, "misses"), number(file, line, "median_us_per_layer"));
                }
            }
        } catch (NoSuchFileException missing) {
            throw new BadInputException(file + ": no such file, expected a layer.csv of bench", missing);
        }
        if (resident == null || !pool.containsKey(0) || pool.size() < 3) {
            throw new BadInputException(file
                    + ": expected layers of one token in a graph: resident, and a pool's without and with at least two "
                    + "numbers of misses");
        }
        return new LayerTable(resident, pool);
    }

    private static double number(Path file, CSVRecord line, String column) {
        try {
            return Double.parseDouble(line.get(column));
        } catch (NumberFormatException malformed) {
            throw new BadInputException(
                    file + " line " + (line.getRecordNumber() + 1) + ": " + column + " is '" + line.get(column)
                            + "', expected a number",
                    malformed);
        }
    }

    /** What planning adds where nothing is missing. */
    double plannerMicros() {
        return poolMicros.get(0) - residentMicros;
    }

    /** What misses add to a pool's layer, linear between those measured and beyond them. */
    double missMicros(int misses) {
        Map.Entry<Integer, Double> high = poolMicros.ceilingEntry(Math.max(1, misses));
        high = high == null ? poolMicros.lastEntry() : high;
        Map.Entry<Integer, Double> low = poolMicros.lowerEntry(high.getKey());
        return low.getValue() - poolMicros.get(0) + slope(low, high) * (misses - low.getKey());
    }

    /** What one more row takes where many are missing: the link alone. */
    double rowMicros() {
        return slope(poolMicros.lowerEntry(poolMicros.lastKey()), poolMicros.lastEntry());
    }

    private static double slope(Map.Entry<Integer, Double> low, Map.Entry<Integer, Double> high) {
        return (high.getValue() - low.getValue()) / (high.getKey() - low.getKey());
    }
}
