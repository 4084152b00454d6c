package org.expertpool.harness.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.Control;
import org.expertpool.pool.plan.PoolConfig;

/**
 * Reads one line of a replay file: exactly one object that is a step, a control change or {@code {"clearError":true}}.
 * Messages say what is wrong within the line; the caller adds the place.
 */
final class ReplayLineParser {
    private static final Set<String> STEP = Set.of("layer", "ids");
    private static final Set<String> WEIGHTED_STEP = Set.of("layer", "ids", "weights");
    private static final Set<String> CONTROL = Set.of("control");
    private static final Set<String> CLEAR_ERROR = Set.of("clearError");

    private final JsonFactory json = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNumberLength(Integer.MAX_VALUE)
                    .build())
            .build();
    private final PoolConfig config;
    private final int maxLanes;
    private final int[] ids;
    private final float[] weights;
    private final Map<String, Integer> changes = new LinkedHashMap<>();
    private int layer;
    private int idCount;
    private int weightCount;

    ReplayLineParser(PoolConfig config) {
        this.config = config;
        maxLanes = config.width().lanes();
        ids = new int[maxLanes];
        weights = new float[maxLanes];
    }

    /** Hands what the line says to the handler; {@link BadInputException} without a place where it says nothing good. */
    void parse(String line, ReplayHandler handler) throws IOException {
        if (line.isBlank()) {
            throw new BadInputException("the line is blank, expected a JSON object");
        }
        Set<String> fields;
        try (JsonParser parser = json.createParser(line)) {
            fields = readObject(parser);
        } catch (JsonProcessingException malformed) {
            throw new BadInputException(
                    "column " + malformed.getLocation().getColumnNr() + " is not JSON, expected one object a line: "
                            // The reader of the file cannot turn the parser's features on, nor see its source.
                            + malformed.getOriginalMessage().replaceFirst("( \\(start marker|: enable `).*", ""),
                    malformed);
        }
        if (fields.equals(STEP)) {
            Arrays.fill(weights, 0, idCount, 1f);
            handler.step(layer, ids, weights, idCount);
        } else if (fields.equals(WEIGHTED_STEP)) {
            if (weightCount != idCount) {
                throw new BadInputException(
                        "field weights has " + weightCount + " entries, expected " + idCount + " as in ids");
            }
            handler.step(layer, ids, weights, idCount);
        } else if (fields.equals(CONTROL)) {
            handler.control(changes);
        } else if (fields.equals(CLEAR_ERROR)) {
            handler.clearError();
        } else {
            throw new BadInputException("the object has the fields " + fields
                    + ", expected layer, ids and perhaps weights; or control alone; or clearError alone");
        }
    }

    private Set<String> readObject(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new BadInputException("the line begins with " + shown(parser) + ", expected a JSON object");
        }
        Set<String> fields = new LinkedHashSet<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = parser.currentName();
            if (!fields.add(field)) {
                throw new BadInputException("field " + field + " appears twice, expected once");
            }
            parser.nextToken();
            readField(field, parser);
        }
        if (parser.nextToken() != null) {
            throw new BadInputException(
                    "the object is followed by " + shown(parser) + ", expected the end of the line");
        }
        return fields;
    }

    private void readField(String field, JsonParser parser) throws IOException {
        switch (field) {
            case "layer" -> {
                layer = wholeNumber(parser, "field layer", 0, config.layers() - 1);
            }
            case "ids" -> readIds(parser);
            case "weights" -> readWeights(parser);
            case "control" -> readControls(parser);
            case "clearError" -> {
                if (parser.currentToken() != JsonToken.VALUE_TRUE) {
                    throw new BadInputException("field clearError is " + shown(parser) + ", expected true");
                }
            }
            default ->
                throw new BadInputException(
                        "field " + field + " is unknown, expected layer, ids, weights, control or clearError");
        }
    }

    private void readIds(JsonParser parser) throws IOException {
        requireArray(parser, "ids");
        idCount = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            requireRoom("ids", idCount);
            ids[idCount] = wholeNumber(parser, "field ids[" + idCount + "]", Integer.MIN_VALUE, Integer.MAX_VALUE);
            idCount++;
        }
        if (idCount == 0) {
            throw new BadInputException("field ids is empty, expected 1 to " + maxLanes + " entries");
        }
    }

    private void readWeights(JsonParser parser) throws IOException {
        requireArray(parser, "weights");
        weightCount = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            requireRoom("weights", weightCount);
            if (!parser.currentToken().isNumeric()) {
                throw new BadInputException(
                        "field weights[" + weightCount + "] is " + shown(parser) + ", expected a number");
            }
            // From the decimal text: by way of double it could be rounded twice. Too large becomes infinite here, which
            // makes an invalid lane and not bad input.
            weights[weightCount++] = Float.parseFloat(parser.getText());
        }
    }

    private void readControls(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw new BadInputException("field control is " + shown(parser) + ", expected an object");
        }
        changes.clear();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            Control control = Control.named(parser.currentName());
            parser.nextToken();
            int value = wholeNumber(parser, "control " + control.label(), control.min(), control.max());
            if (changes.put(control.label(), value) != null) {
                throw new BadInputException("control " + control.label() + " appears twice, expected once");
            }
        }
    }

    private static int wholeNumber(JsonParser parser, String what, int min, int max) throws IOException {
        boolean whole = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() == JsonParser.NumberType.INT;
        if (!whole || parser.getIntValue() < min || parser.getIntValue() > max) {
            throw new BadInputException(
                    what + " is " + shown(parser) + ", expected a whole number from " + min + " to " + max);
        }
        return parser.getIntValue();
    }

    private static void requireArray(JsonParser parser, String field) throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw new BadInputException("field " + field + " is " + shown(parser) + ", expected an array");
        }
    }

    private void requireRoom(String field, int count) {
        if (count == maxLanes) {
            throw new BadInputException(
                    "field " + field + " has more than " + maxLanes + " entries, expected at most S = " + maxLanes);
        }
    }

    /** The current token as a message shows it. */
    private static String shown(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            return "nothing";
        }
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case VALUE_STRING -> "the text \"" + shortened(parser.getText()) + "\"";
            default -> shortened(parser.getText());
        };
    }

    private static String shortened(String text) {
        return text.length() <= 40 ? text : text.substring(0, 40) + "...";
    }
}
