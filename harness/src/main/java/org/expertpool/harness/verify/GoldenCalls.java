package org.expertpool.harness.verify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;

/**
 * MoE layer calls whose outputs another program computed, as {@code golden/golden.json} beside a checkpoint describes
 * them: for each prompt a little-endian file with, at stated offsets, expert ids i32 {@code [positions, layers, topK]},
 * weights f32 of the same shape, and inputs and outputs f32 {@code [positions kept, layers, hidden]}.
 */
final class GoldenCalls {
    private static final String INDEX = "golden/golden.json";
    private static final int FORMAT = 1;

    private final Path folder;
    private final ModelGeometry model;
    private final JsonNode root;
    private final int layers;

    private GoldenCalls(Path checkpoint, ModelGeometry model, JsonNode root) {
        folder = checkpoint.resolve(INDEX).getParent();
        this.model = model;
        this.root = root;
        layers = number(root, "layers");
    }

    static boolean areThere(Path checkpoint) {
        return Files.exists(checkpoint.resolve(INDEX));
    }

    /**
     * The calls of one layer, a token each position kept.
     *
     * @param type that the inputs are rounded to
     * @param layerNumber as the model counts its layers
     */
    static MoeCalls read(Path checkpoint, ModelGeometry model, ActivationType type, int layerNumber)
            throws IOException {
        Path index = checkpoint.resolve(INDEX);
        try {
            GoldenCalls golden = new GoldenCalls(checkpoint, model, new ObjectMapper().readTree(index.toFile()));
            golden.requireShape(layerNumber);
            return golden.calls(type, layerNumber);
        } catch (JsonProcessingException malformed) {
            throw new BadInputException(index + ": not JSON", malformed);
        } catch (IndexOutOfBoundsException outside) {
            throw new BadInputException(index + ": a section reaches beyond the end of its file", outside);
        }
    }

    private void requireShape(int layerNumber) {
        require("format", number(root, "format"), FORMAT);
        require("experts", number(root, "experts"), model.experts());
        require("top_k", number(root, "top_k"), model.topK());
        require("hidden", number(root, "hidden"), model.hidden());
        if (layerNumber >= layers) {
            throw bad("layers is " + layers + ", expected more than " + layerNumber);
        }
    }

    private MoeCalls calls(ActivationType type, int layer) throws IOException {
        List<ByteBuffer> files = new ArrayList<>();
        List<JsonNode> prompts = new ArrayList<>();
        int tokens = 0;
        for (JsonNode prompt : root.path("prompts")) {
            Path file = folder.resolve(prompt.path("file").asText());
            files.add(ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN));
            prompts.add(prompt);
            tokens += prompt.path("hidden_positions").size();
        }
        MoeCalls calls = MoeCalls.of(type, tokens, model.topK(), model.hidden());
        int token = 0;
        for (int i = 0; i < prompts.size(); i++) {
            JsonNode sections = prompts.get(i).path("sections");
            int kept = 0;
            for (JsonNode position : prompts.get(i).path("hidden_positions")) {
                int routing = (position.asInt() * layers + layer) * model.topK();
                int state = (kept++ * layers + layer) * model.hidden();
                for (int slot = 0; slot < model.topK(); slot++) {
                    int lane = token * model.topK() + slot;
                    calls.ids()[lane] = files.get(i).getInt(at(sections, "expert_ids", routing + slot));
                    calls.weights()[lane] = files.get(i).getFloat(at(sections, "expert_weights", routing + slot));
                }
                for (int h = 0; h < model.hidden(); h++) {
                    int value = token * model.hidden() + h;
                    calls.inputs()[value] = files.get(i).getFloat(at(sections, "moe_input", state + h));
                    calls.expected()[value] = files.get(i).getFloat(at(sections, "moe_output", state + h));
                }
                token++;
            }
        }
        return calls;
    }

    private int at(JsonNode sections, String section, int index) {
        return number(sections.path(section), "offset") + Integer.BYTES * index;
    }

    private int number(JsonNode node, String field) {
        if (!node.path(field).canConvertToInt()) {
            throw bad("field " + field + " is missing or no whole number");
        }
        return node.get(field).intValue();
    }

    private void require(String field, int value, int expected) {
        if (value != expected) {
            throw bad(String.format(Locale.ROOT, "%s is %d, expected %d", field, value, expected));
        }
    }

    private BadInputException bad(String problem) {
        return new BadInputException(folder.resolve("golden.json") + ": " + problem);
    }
}
