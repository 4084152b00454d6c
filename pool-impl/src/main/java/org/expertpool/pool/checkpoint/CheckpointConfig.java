package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.expertpool.pool.BadInputException;

/**
 * What config.json says of the model.
 *
 * @param root the whole of it
 * @param layers decoder layers, those without experts included
 * @param moeLayers numbers of the layers that have routed experts, ascending
 * @param kvValuesPerToken values that the KV cache holds of one token, over all layers; 0 where config.json does not say
 */
record CheckpointConfig(
        JsonFields root,
        int layers,
        List<Integer> moeLayers,
        int experts,
        int topK,
        int hidden,
        int expertWidth,
        long kvValuesPerToken) {
    private static final String FILE = "config.json";
    private static final int MOST_LAYERS = 4096;

    static CheckpointConfig read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        JsonFields root = new JsonFields(file.toString(), JsonText.object(file));
        // Models with several kinds of input keep the language model's sizes one level down.
        JsonFields text = root.object("text_config").orElse(root);
        refuseOtherActivations(root);
        refuseOtherActivations(text);
        int layers = text.required(1, "num_hidden_layers");
        if (layers > MOST_LAYERS) {
            throw text.bad("num_hidden_layers", "at most " + MOST_LAYERS);
        }
        CheckpointConfig config = new CheckpointConfig(
                root,
                layers,
                moeLayers(text, layers),
                text.required(1, "num_experts", "num_local_experts", "n_routed_experts"),
                text.required(1, "num_experts_per_tok"),
                text.required(1, "hidden_size"),
                text.required(1, "moe_intermediate_size", "intermediate_size"),
                kvValuesPerToken(text, layers));
        if (config.moeLayers.isEmpty()) {
            throw new BadInputException(file + ": no layer has routed experts");
        }
        return config;
    }

    /** The expert chain is SwiGLU without limits: whatever asks for another function would be computed wrongly. */
    private static void refuseOtherActivations(JsonFields fields) {
        Optional<String> activation = fields.text("hidden_act").or(() -> fields.text("hidden_activation"));
        if (activation.isPresent() && !List.of("silu", "swish").contains(activation.get())) {
            throw fields.bad(fields.has("hidden_act") ? "hidden_act" : "hidden_activation", "silu");
        }
        for (Iterator<String> names = fields.node().fieldNames(); names.hasNext(); ) {
            String name = names.next();
            String lower = name.toLowerCase(Locale.ROOT);
            boolean limits = lower.contains("swiglu") || lower.contains("clamp") || lower.contains("activation_limit");
            if (limits && fields.has(name)) {
                throw fields.bad(name, "no such field: the expert chain has no limit on its values");
            }
        }
    }

    private static List<Integer> moeLayers(JsonFields text, int layers) {
        int firstDense = text.integer(0, "first_k_dense_replace").orElse(0);
        int step = text.integer(1, "decoder_sparse_step").orElse(1);
        List<Integer> dense = integers(text, "mlp_only_layers");
        JsonNode frequency = text.get("moe_layer_freq");
        List<Integer> listed = frequency.isArray() ? integers(text, "moe_layer_freq") : List.of();
        int every = frequency.isArray() ? 1 : text.integer(1, "moe_layer_freq").orElse(1);
        if (frequency.isArray() && listed.size() != layers) {
            throw text.bad("moe_layer_freq", layers + " numbers, one a layer");
        }
        List<Integer> moe = new ArrayList<>();
        for (int layer = 0; layer < layers; layer++) {
            boolean chosen = layer >= firstDense
                    && (layer + 1) % step == 0
                    && layer % every == 0
                    && !dense.contains(layer)
                    && (listed.isEmpty() || listed.get(layer) != 0);
            if (chosen) {
                moe.add(layer);
            }
        }
        return List.copyOf(moe);
    }

    private static List<Integer> integers(JsonFields text, String field) {
        List<Integer> numbers = new ArrayList<>();
        JsonNode list = text.get(field);
        if (!list.isMissingNode() && !list.isArray()) {
            throw text.bad(field, "a list of whole numbers");
        }
        for (JsonNode item : list) {
            if (!item.isIntegralNumber() || !item.canConvertToInt()) {
                throw text.bad(field, "a list of whole numbers");
            }
            numbers.add(item.intValue());
        }
        return numbers;
    }

    private static long kvValuesPerToken(JsonFields text, int layers) {
        long attention = attentionLayers(text, layers);
        if (text.has("kv_lora_rank")) { // latent attention keeps one compressed vector and the rotated part of the key
            return attention * (text.required(1, "kv_lora_rank") + text.required(0, "qk_rope_head_dim"));
        }
        Optional<Integer> heads = text.integer(1, "num_attention_heads");
        Optional<Integer> kvHeads = text.integer(1, "num_key_value_heads").or(() -> heads);
        Optional<Integer> size =
                text.integer(1, "head_dim").or(() -> heads.map(count -> text.required(1, "hidden_size") / count));
        return kvHeads.isEmpty() || size.isEmpty() ? 0 : 2 * attention * kvHeads.get() * size.get();
    }

    /** Layers with a KV cache: linear attention keeps a state of fixed size instead. */
    private static long attentionLayers(JsonFields text, int layers) {
        List<String> types = text.texts("layer_types");
        if (!types.isEmpty()) {
            return types.stream()
                    .filter(type -> type.endsWith("attention") && !type.startsWith("linear"))
                    .count();
        }
        return layers / text.integer(1, "full_attention_interval").orElse(1);
    }
}
