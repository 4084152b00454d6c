package org.expertpool.harness.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;

/** A comparison as JSON: the lines of the table, and the cells that have no partner. No value is null, never 0. */
public final class ComparisonJson {
    private ComparisonJson() {}

    public static String of(Comparison comparison) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        ArrayNode lines = root.putArray("lines");
        for (Comparison.Line line : comparison.lines()) {
            ObjectNode object = lines.addObject();
            object.put("cell", line.cell());
            object.put("metric", line.metric().name());
            object.put("basis", line.bases());
            object.put("repetitions", line.repetitions());
            put(object, "median_a", line.medianA());
            put(object, "median_b", line.medianB());
            put(object, "ratio", line.ratio().ratio());
            put(object, "ratio_low", line.ratio().low());
            put(object, "ratio_high", line.ratio().high());
            object.put("verdict", line.verdict().toString());
        }
        put(root, "only_in_a", comparison.onlyInA());
        put(root, "only_in_b", comparison.onlyInB());
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static void put(ObjectNode object, String name, double value) {
        if (Double.isFinite(value)) {
            object.put(name, value);
        } else {
            object.putNull(name);
        }
    }

    private static void put(ObjectNode object, String name, List<String> cells) {
        ArrayNode array = object.putArray(name);
        cells.forEach(array::add);
    }
}
