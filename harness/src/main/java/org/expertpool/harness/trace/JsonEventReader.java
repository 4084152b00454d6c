package org.expertpool.harness.trace;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * Reads {@code {"top_k":K,"trace":[...]}} or the array alone. Its elements are events {@code [layer,e0,...]}, or numbers
 * as in the flat form.
 */
final class JsonEventReader implements EventReader {
    private final TextFile file;
    private final int topK;

    JsonEventReader(TextFile file, TraceOptions options) throws IOException {
        this.file = file;
        Survey survey = new Survey();
        JsonText.read(file, survey::over);
        if (survey.topK > 0 && options.topK().isPresent() && options.topK().getAsInt() != survey.topK) {
            throw file.bad(
                    survey.topKLine,
                    "top_k is " + survey.topK + ", expected " + options.topK().getAsInt() + " as given");
        }
        int known = options.topK().orElse(survey.topK);
        this.topK = known == 0 && survey.flat ? survey.guess.topK(file, options) : known;
    }

    @Override
    public void read(Sink sink) throws IOException {
        JsonText.read(file, json -> {
            if (json.next() == JsonToken.START_ARRAY) {
                readTrace(json, sink);
                return;
            }
            while (json.next() != JsonToken.END_OBJECT) {
                boolean trace = json.name().equals("trace");
                json.next();
                if (trace) {
                    readTrace(json, sink);
                } else {
                    json.skip();
                }
            }
        });
    }

    private void readTrace(JsonText json, Sink sink) throws IOException {
        FlatEvents events = new FlatEvents(file, topK, sink);
        long line = json.line();
        boolean nested = false;
        boolean first = true;
        for (JsonToken token = json.next(); token != JsonToken.END_ARRAY; token = json.next()) {
            line = json.line();
            nested = first ? token == JsonToken.START_ARRAY : nested;
            first = false;
            if (nested) {
                json.expect(JsonToken.START_ARRAY, "an event", "an array [layer,e0,...]");
                readEvent(json, events);
            } else {
                events.number(line, json.wholeNumber("number"));
            }
        }
        events.endStream(line);
    }

    private static void readEvent(JsonText json, FlatEvents events) throws IOException {
        long line = json.line();
        json.next();
        events.begin(line, json.wholeNumber("layer"));
        while (json.next() != JsonToken.END_ARRAY) {
            events.expert(json.wholeNumber("expert"));
        }
        events.end();
    }

    /** A first look: top_k wherever it stands, and whether the trace is flat. */
    private static final class Survey {
        private final StrideGuess guess = new StrideGuess();
        private int topK;
        private long topKLine;
        private boolean flat;

        void over(JsonText json) throws IOException {
            boolean trace = false;
            JsonToken root = json.next();
            if (root == JsonToken.START_ARRAY) {
                trace = true;
                lookAtTrace(json);
            } else {
                json.expect(JsonToken.START_OBJECT, "the file", "{\"top_k\":K,\"trace\":[...]}");
                while (json.next() != JsonToken.END_OBJECT) {
                    String name = json.name();
                    json.next();
                    if (name.equals("top_k")) {
                        readTopK(json);
                    } else if (name.equals("trace")) {
                        trace = true;
                        json.expect(JsonToken.START_ARRAY, "trace", "an array of events [layer,e0,...]");
                        lookAtTrace(json);
                    } else {
                        json.skip();
                    }
                }
            }
            if (!trace) {
                throw json.bad(1, "trace is missing, expected {\"top_k\":K,\"trace\":[...]}");
            }
            if (json.next() != null) {
                throw json.bad(json.line(), "more follows the trace, expected the end of the file");
            }
        }

        private void readTopK(JsonText json) throws IOException {
            long value = json.wholeNumber("top_k");
            if (value < 1 || value > TraceShape.MAX) {
                throw json.bad(json.line(), "top_k is " + value + ", expected 1 to " + TraceShape.MAX);
            }
            topK = (int) value;
            topKLine = json.line();
        }

        private void lookAtTrace(JsonText json) throws IOException {
            for (JsonToken token = json.next(); token != JsonToken.END_ARRAY; token = json.next()) {
                if (token == JsonToken.START_ARRAY) {
                    json.skip();
                } else if (guess.wants()) {
                    flat = true;
                    guess.add(json.wholeNumber("number"));
                }
            }
        }
    }
}
