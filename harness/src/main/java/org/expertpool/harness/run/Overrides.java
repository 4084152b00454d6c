package org.expertpool.harness.run;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;

/**
 * {@code --set key=value} applied to a definition before it is checked. An axis or {@code control.<name>} is set in
 * every matrix whose engine takes it; any other key is a dotted path into the file. The value is TOML, or a bare word or comma-separated
 * list of words.
 */
final class Overrides {
    private static final TomlMapper TOML = new TomlMapper();
    private static final Pattern OUTSIDE_PARENTHESES = Pattern.compile(",(?![^(]*\\))");

    private Overrides() {}

    static void apply(ObjectNode root, List<String> settings) {
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            if (equals < 1) {
                throw new BadInputException("--set " + setting + ": expected key=value");
            }
            String key = setting.substring(0, equals).strip();
            JsonNode value = value(setting.substring(equals + 1).strip());
            if (Axis.of(key).isPresent() || key.startsWith(Axis.CONTROL_PREFIX)) {
                setAxis(root, key, value);
            } else {
                put(root, key, value, setting);
            }
        }
    }

    private static void setAxis(ObjectNode root, String key, JsonNode value) {
        List<ObjectNode> all = new ArrayList<>();
        root.path("matrix").forEach(matrix -> {
            if (matrix instanceof ObjectNode table) {
                all.add(table);
            }
        });
        List<ObjectNode> taking = all.stream()
                .filter(matrix -> Axis.isOf(engine(root, matrix), key))
                .toList();
        if (taking.size() < all.size()) {
            if (taking.isEmpty()) {
                throw new BadInputException("--set " + key + ": no matrix has an engine that takes it");
            }
            taking.forEach(matrix -> put(matrix, key, value, key));
            return;
        }
        put(root, "axes." + key, value, key);
        for (ObjectNode matrix : all) {
            JsonNode owner = key.startsWith(Axis.CONTROL_PREFIX) ? matrix.path("control") : matrix;
            if (owner instanceof ObjectNode holder) {
                holder.remove(key.substring(key.lastIndexOf('.') + 1));
            }
        }
    }

    private static String engine(ObjectNode root, ObjectNode matrix) {
        JsonNode engine = Stream.of(matrix, root.path("axes"), root)
                .map(table -> table.path(Axis.ENGINE.key()))
                .filter(found -> !found.isMissingNode())
                .findFirst()
                .orElse(MissingNode.getInstance());
        return (engine.isArray() ? engine.path(0) : engine).asText(Axis.POOL);
    }

    private static void put(ObjectNode root, String path, JsonNode value, String setting) {
        String[] keys = path.split("\\.", -1);
        ObjectNode table = root;
        for (int i = 0; i < keys.length - 1; i++) {
            JsonNode next = table.path(keys[i]);
            if (next.isMissingNode()) {
                next = table.putObject(keys[i]);
            }
            if (!(next instanceof ObjectNode)) {
                throw new BadInputException("--set " + setting + ": " + keys[i] + " is not a table");
            }
            table = (ObjectNode) next;
        }
        table.set(keys[keys.length - 1], value);
    }

    private static JsonNode value(String text) {
        try {
            return TOML.readTree("value = " + text).path("value");
        } catch (JacksonException notToml) {
            return words(text);
        }
    }

    private static JsonNode words(String text) {
        String[] words = OUTSIDE_PARENTHESES.split(text, -1);
        if (words.length == 1) {
            return TOML.getNodeFactory().textNode(text);
        }
        ArrayNode list = TOML.createArrayNode();
        for (String word : words) {
            JsonNode item = value(word.strip());
            list.add(item);
        }
        return list;
    }
}
