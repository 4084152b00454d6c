package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.expertpool.pool.BadInputException;

/** Strict reading of JSON objects: UTF-8, no key twice, nothing after the end. Every refusal names the file. */
final class JsonText {
    /** Numbers such as Infinity are no JSON, but Python writes them into model configurations. */
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final int MOST_SHOWN = 200;

    /** What reads the value of one field; the parser stands on its first token, and must end on its last. */
    interface Field {
        void read(String name, JsonParser parser) throws IOException;
    }

    private JsonText() {}

    /** The object in a small file. */
    static ObjectNode object(Path file) throws IOException {
        try (InputStream in = open(file)) {
            JsonNode tree = MAPPER.readTree(reader(in));
            if (tree instanceof ObjectNode object) {
                return object;
            }
        } catch (JsonProcessingException | CharacterCodingException malformed) {
            throw malformed(file.toString(), malformed);
        }
        throw new BadInputException(file + ": not a JSON object");
    }

    /** Opens a file that must be there. */
    static InputStream open(Path file) throws IOException {
        try {
            return Files.newInputStream(file);
        } catch (NoSuchFileException missing) {
            throw new BadInputException(file + ": no such file", missing);
        }
    }

    /** Hands out the fields of an object one by one, in the order of the text and without holding them. */
    static void fields(String place, InputStream in, Field field) throws IOException {
        try (JsonParser parser = MAPPER.createParser(reader(in))) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new BadInputException(place + ": not a JSON object");
            }
            fields(parser, field);
            if (parser.nextToken() != null) {
                throw new BadInputException(place + ": text after the end of the JSON object");
            }
        } catch (JsonProcessingException | CharacterCodingException malformed) {
            throw malformed(place, malformed);
        }
    }

    /** Hands out the fields of the object that the parser stands at the beginning of. */
    static void fields(JsonParser parser, Field field) throws IOException {
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            field.read(name, parser);
        }
    }

    /** A name from a file as it may stand in a message: one line, not endless. */
    static String shown(String name) {
        String line = name.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= MOST_SHOWN ? line : line.substring(0, MOST_SHOWN) + "...";
    }

    // Jackson guesses encodings and takes bad bytes outside of strings; a decoder of its own does neither.
    private static InputStreamReader reader(InputStream in) {
        return new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder());
    }

    private static BadInputException malformed(String place, IOException malformed) {
        if (!(malformed instanceof JsonProcessingException json)) {
            return new BadInputException(place + ": not UTF-8 text", malformed);
        }
        JsonLocation at = json.getLocation();
        String where = at == null ? "" : " line " + at.getLineNr() + " column " + at.getColumnNr();
        // Where the parser's own text tells of its source, it tells what it was not given.
        String problem = json.getOriginalMessage().replaceFirst(" \\(start marker.*", "");
        return new BadInputException(place + where + ": not JSON: " + shown(problem), malformed);
    }
}
