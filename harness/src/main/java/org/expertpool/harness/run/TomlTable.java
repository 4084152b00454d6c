package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.expertpool.pool.BadInputException;

/** A table of a definition file that knows where it stands, so that each error names file and key. */
final class TomlTable {
    private final String file;
    private final String path;
    private final JsonNode node;

    TomlTable(String file, String path, JsonNode node) {
        this.file = file;
        this.path = path;
        this.node = node;
        if (!node.isObject()) {
            throw new BadInputException(file + ": " + path + " is " + node + ", expected a table");
        }
    }

    /** Refuses keys other than these. */
    void allow(List<String> keys) {
        for (String key : keys()) {
            if (!keys.contains(key)) {
                throw new BadInputException(
                        file + ": unknown key '" + path(key) + "', expected one of " + String.join(", ", keys));
            }
        }
    }

    List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
            keys.add(names.next());
        }
        return keys;
    }

    boolean has(String key) {
        return node.has(key);
    }

    JsonNode get(String key) {
        return node.path(key);
    }

    String text(String key) {
        return optionalText(key).orElseThrow(() -> bad(key, "a string that is not empty"));
    }

    Optional<String> optionalText(String key) {
        if (!node.has(key)) {
            return Optional.empty();
        }
        if (!node.get(key).isTextual() || node.get(key).asText().isBlank()) {
            throw bad(key, "a string that is not empty");
        }
        return Optional.of(node.get(key).asText().strip());
    }

    long integer(String key, long min, long max) {
        JsonNode value = node.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < min || value.asLong() > max) {
            throw bad(key, "a whole number from " + min + " to " + max);
        }
        return value.asLong();
    }

    OptionalDouble optionalNumber(String key) {
        if (!node.has(key)) {
            return OptionalDouble.empty();
        }
        if (!node.get(key).isNumber()) {
            throw bad(key, "a number");
        }
        return OptionalDouble.of(node.get(key).asDouble());
    }

    /** A list of strings; a missing key is an empty list. */
    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        JsonNode list = node.path(key);
        if (node.has(key) && !list.isArray()) {
            throw bad(key, "a list of strings");
        }
        for (JsonNode item : list) {
            if (!item.isTextual()) {
                throw bad(key, "a list of strings");
            }
            texts.add(item.asText());
        }
        return texts;
    }

    /** A table; a missing key is an empty table. */
    TomlTable table(String key) {
        return new TomlTable(file, path(key), node.has(key) ? node.get(key) : JsonNodeFactory.instance.objectNode());
    }

    /** An array of tables; a missing key is an empty list. */
    List<TomlTable> tables(String key) {
        JsonNode list = node.path(key);
        if (node.has(key) && !list.isArray()) {
            throw bad(key, "an array of tables, [[" + path(key) + "]]");
        }
        List<TomlTable> tables = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            tables.add(new TomlTable(file, path(key) + "[" + i + "]", list.get(i)));
        }
        return tables;
    }

    /** The error for a value that is missing or not what was expected. */
    BadInputException bad(String key, String expected) {
        String found = node.has(key) ? " is " + node.get(key) : " is missing";
        return new BadInputException(file + ": " + path(key) + found + ", expected " + expected);
    }

    private String path(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
