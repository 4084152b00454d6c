package org.expertpool.harness.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;
import org.expertpool.pool.BadInputException;

/** JSON under a streaming parser, with errors that name file and line. */
final class JsonText {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final TextFile file;
    private final JsonParser parser;

    private JsonText(TextFile file, JsonParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /** What reads a text. */
    interface Walk {
        void over(JsonText text) throws IOException;
    }

    /** Opens the file, walks over it, closes it. */
    static void read(TextFile file, Walk walk) throws IOException {
        try (InputStream in = file.open();
                JsonParser parser = FACTORY.createParser(in)) {
            JsonText text = new JsonText(file, parser);
            try {
                walk.over(text);
            } catch (JsonProcessingException wrong) {
                long line = Math.max(
                        1, wrong.getLocation() == null ? 1 : wrong.getLocation().getLineNr());
                String problem = wrong.getOriginalMessage().replaceAll("\\s*\\R.*", "");
                throw file.bad(line, problem + ", expected well-formed JSON", wrong);
            } catch (EOFException | ZipException damaged) {
                throw file.damaged(text.line(), damaged);
            }
        }
    }

    /** Moves on; null at the end of the file. */
    JsonToken next() throws IOException {
        return parser.nextToken();
    }

    /** Line of the current token. */
    long line() {
        return parser.currentTokenLocation().getLineNr();
    }

    /** Name of the current field. */
    String name() throws IOException {
        return parser.currentName();
    }

    /** Skips the current value whole. */
    void skip() throws IOException {
        parser.skipChildren();
    }

    /** The current value as a whole number. */
    long wholeNumber(String what) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw found(what, "a whole number");
        }
        return parser.getLongValue();
    }

    /** The current value as the nearest float. */
    float decimal(String what) throws IOException {
        if (!parser.currentToken().isNumeric()) {
            throw found(what, "a number");
        }
        return Float.parseFloat(parser.getText());
    }

    /** Checks that the current token is this one. */
    void expect(JsonToken token, String what, String expected) throws IOException {
        if (parser.currentToken() != token) {
            throw found(what, expected);
        }
    }

    BadInputException bad(long line, String problem) {
        return file.bad(line, problem);
    }

    private BadInputException found(String what, String expected) throws IOException {
        String text = parser.currentToken() == null ? "missing" : "'" + parser.getText() + "'";
        return file.bad(Math.max(1, line()), what + " is " + text + ", expected " + expected);
    }
}
