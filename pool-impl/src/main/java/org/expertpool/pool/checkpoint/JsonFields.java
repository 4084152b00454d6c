package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.BadInputException;

/**
 * The fields of a configuration object. A null counts as absent, the way configurations write it.
 *
 * @param file for messages
 * @param node the object
 */
record JsonFields(String file, JsonNode node) {
    /** Beyond any size of a model, and small enough for products of three to stay within 64 bits. */
    private static final int MOST = 1 << 20;

    /** The field's value; a missing node where there is none. */
    JsonNode get(String field) {
        JsonNode value = node.path(field);
        return value.isNull() ? MissingNode.getInstance() : value;
    }

    boolean has(String field) {
        return !get(field).isMissingNode();
    }

    /** A whole number from {@code least} to 2^20 under the first of several names that is there. */
    Optional<Integer> integer(int least, String... names) {
        for (String name : names) {
            if (has(name)) {
                JsonNode value = get(name);
                if (!value.isIntegralNumber()
                        || !value.canConvertToInt()
                        || value.intValue() < least
                        || value.intValue() > MOST) {
                    throw bad(name, "a whole number from " + least + " to " + MOST);
                }
                return Optional.of(value.intValue());
            }
        }
        return Optional.empty();
    }

    /** The same where one must be there. */
    int required(int least, String... names) {
        return integer(least, names)
                .orElseThrow(() ->
                        new BadInputException(file + ": none of the fields " + String.join(", ", names) + " is there"));
    }

    Optional<String> text(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        if (!get(field).isTextual()) {
            throw bad(field, "a text");
        }
        return Optional.of(get(field).textValue());
    }

    List<String> texts(String field) {
        List<String> texts = new ArrayList<>();
        if (has(field)) {
            if (!get(field).isArray()) {
                throw bad(field, "a list of texts");
            }
            for (JsonNode item : get(field)) {
                if (!item.isTextual()) {
                    throw bad(field, "a list of texts");
                }
                texts.add(item.textValue());
            }
        }
        return texts;
    }

    /** The fields of a field that is an object. */
    Optional<JsonFields> object(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        if (!get(field).isObject()) {
            throw bad(field, "an object");
        }
        return Optional.of(new JsonFields(file, get(field)));
    }

    BadInputException bad(String field, String expected) {
        String value = has(field) ? JsonText.shown(get(field).toString()) : "missing";
        return new BadInputException(file + ": " + field + " is " + value + ", expected " + expected);
    }
}
