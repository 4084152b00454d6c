package org.expertpool.harness.trace;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * Reads JSON lines with {@code layer_idx}, {@code token_idx}, {@code selected_ids} and, optional, {@code gate_weights} and
 * {@code seq_idx}; other fields are ignored.
 */
record JsonlEventReader(TextFile file) implements EventReader {
    @Override
    public void read(Sink sink) throws IOException {
        JsonText.read(file, json -> {
            RouteEvent event = new RouteEvent();
            while (json.next() != null) {
                json.expect(JsonToken.START_OBJECT, "the line", "an object {\"layer_idx\":..,\"token_idx\":..}");
                readObject(json, event);
                sink.event(event);
            }
        });
    }

    private static void readObject(JsonText json, RouteEvent event) throws IOException {
        event.line = json.line();
        event.sequence = 0;
        event.token = -1;
        event.layer = -1;
        event.lanes = -1;
        int weights = -1;
        boolean tokenGiven = false;
        boolean layerGiven = false;
        while (json.next() != JsonToken.END_OBJECT) {
            String name = json.name();
            JsonToken value = json.next();
            switch (name) {
                case "layer_idx" -> {
                    event.layer = json.wholeNumber(name);
                    layerGiven = true;
                }
                case "token_idx" -> {
                    event.token = json.wholeNumber(name);
                    tokenGiven = true;
                }
                case "seq_idx" -> event.sequence = json.wholeNumber(name);
                case "selected_ids" -> event.lanes = readIds(json, event);
                case "gate_weights" -> weights = value == JsonToken.VALUE_NULL ? -1 : readWeights(json, event);
                default -> json.skip();
            }
        }
        require(json, event, layerGiven, "layer_idx");
        require(json, event, tokenGiven, "token_idx");
        require(json, event, event.lanes >= 0, "selected_ids");
        if (weights >= 0 && weights != event.lanes) {
            throw json.bad(event.line, weights + " gate_weights, expected " + event.lanes + " as selected_ids");
        }
        event.weighted = weights >= 0;
    }

    private static void require(JsonText json, RouteEvent event, boolean given, String field) {
        if (!given) {
            throw json.bad(event.line, field + " is missing, expected layer_idx, token_idx and selected_ids");
        }
    }

    private static int readIds(JsonText json, RouteEvent event) throws IOException {
        json.expect(JsonToken.START_ARRAY, "selected_ids", "an array of expert ids");
        int lanes = 0;
        while (json.next() != JsonToken.END_ARRAY) {
            event.setId(lanes++, json.wholeNumber("selected_ids"));
        }
        return lanes;
    }

    private static int readWeights(JsonText json, RouteEvent event) throws IOException {
        json.expect(JsonToken.START_ARRAY, "gate_weights", "an array of weights");
        int lanes = 0;
        while (json.next() != JsonToken.END_ARRAY) {
            event.setWeight(lanes++, json.decimal("gate_weights"));
        }
        return lanes;
    }
}
