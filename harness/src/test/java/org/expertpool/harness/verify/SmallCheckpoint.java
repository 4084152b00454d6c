package org.expertpool.harness.verify;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.format.Nvfp4Tensor;

/** Writes a checkpoint of the shape of model {@code tiny} with seeded experts, and golden outputs of one token. */
public final class SmallCheckpoint {
    private static final int LAYERS = 2;
    private static final int EXPERTS = 8;
    private static final int TOP_K = 2;
    private static final int HIDDEN = 128;
    private static final int WIDTH = 64;
    private static final SyntheticExperts ROWS =
            new SyntheticExperts(3, LAYERS, EXPERTS, new ExpertRowLayout(HIDDEN, WIDTH));

    private final ObjectNode header = new ObjectMapper().createObjectNode();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();

    private SmallCheckpoint() {}

    /** @param goldenShift added to the first golden output */
    public static Path write(Path folder, float goldenShift) throws IOException {
        Files.writeString(
                folder.resolve("config.json"),
                "{\"num_hidden_layers\":2,\"hidden_size\":128,\"moe_intermediate_size\":64,\"num_experts\":8,"
                        + "\"num_experts_per_tok\":2}");
        Files.writeString(
                folder.resolve("hf_quant_config.json"),
                "{\"quantization\":{\"quant_algo\":\"NVFP4\",\"group_size\":16}}");
        SmallCheckpoint file = new SmallCheckpoint();
        for (int key = 0; key < LAYERS * EXPERTS; key++) {
            String name = "model.layers." + key / EXPERTS + ".mlp.experts." + key % EXPERTS + ".";
            PlainExpert plain = ROWS.plain(key / EXPERTS, key % EXPERTS);
            file.add(name + "gate_proj", plain.gate());
            file.add(name + "up_proj", plain.up());
            file.add(name + "down_proj", plain.down());
        }
        byte[] text = file.header.toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer all = ByteBuffer.allocate(8 + text.length + file.data.size()).order(ByteOrder.LITTLE_ENDIAN);
        all.putLong(text.length).put(text).put(file.data.toByteArray());
        Files.write(folder.resolve("model.safetensors"), all.array());
        writeGolden(Files.createDirectories(folder.resolve("golden")), goldenShift);
        return folder;
    }

    private void add(String name, Nvfp4Tensor tensor) {
        add(name + ".weight", "U8", tensor.codes(), tensor.n(), tensor.k() / 2);
        add(name + ".weight_scale", "F8_E4M3", tensor.scales(), tensor.n(), tensor.k() / 16);
        ByteBuffer scale = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(tensor.globalScale());
        add(name + ".weight_scale_2", "F32", scale.array());
    }

    private void add(String name, String type, byte[] bytes, int... shape) {
        ObjectNode entry = header.putObject(name).put("dtype", type);
        for (int size : shape) {
            entry.withArray("shape").add(size);
        }
        entry.withArray("shape");
        entry.putArray("data_offsets").add(data.size()).add(data.size() + bytes.length);
        data.writeBytes(bytes);
    }

    /** Token i of its one kept position, in both layers: inputs i mod 5 - 2, experts 1 and 6, weights 0.75 and 0.25. */
    private static void writeGolden(Path folder, float shift) throws IOException {
        ByteBuffer file = ByteBuffer.allocate(64 + 2 * LAYERS * HIDDEN * 4).order(ByteOrder.LITTLE_ENDIAN);
        int inputsAt = 64;
        int outputsAt = inputsAt + LAYERS * HIDDEN * 4;
        for (int layer = 0; layer < LAYERS; layer++) {
            double[] output = new double[HIDDEN];
            double[] input = new double[HIDDEN];
            for (int h = 0; h < HIDDEN; h++) {
                input[h] = h % 5 - 2;
                file.putFloat(inputsAt + 4 * (layer * HIDDEN + h), (float) input[h]);
            }
            int[] experts = {1, 6};
            float[] weights = {0.75f, 0.25f};
            for (int slot = 0; slot < TOP_K; slot++) {
                file.putInt(4 * (layer * TOP_K + slot), experts[slot]);
                file.putFloat(32 + 4 * (layer * TOP_K + slot), weights[slot]);
                add(output, weights[slot], ROWS.plain(layer, experts[slot]), input);
            }
            for (int h = 0; h < HIDDEN; h++) {
                file.putFloat(outputsAt + 4 * (layer * HIDDEN + h), (float) output[h] + (h == 0 ? shift : 0));
            }
        }
        Files.write(folder.resolve("0.bin"), file.array());
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("format", 1)
                .put("layers", LAYERS)
                .put("experts", EXPERTS)
                .put("top_k", TOP_K)
                .put("hidden", HIDDEN);
        ObjectNode prompt = root.putArray("prompts").addObject().put("file", "0.bin");
        prompt.putArray("hidden_positions").add(0);
        ObjectNode sections = prompt.putObject("sections");
        sections.putObject("expert_ids").put("offset", 0);
        sections.putObject("expert_weights").put("offset", 32);
        sections.putObject("moe_input").put("offset", inputsAt);
        sections.putObject("moe_output").put("offset", outputsAt);
        Files.writeString(folder.resolve("golden.json"), root.toString());
    }

    /** One expert in float64 on plain weights. */
    private static void add(double[] output, double weight, PlainExpert expert, double[] input) {
        double[] gate = multiply(expert.gate(), input);
        double[] up = multiply(expert.up(), input);
        for (int n = 0; n < gate.length; n++) {
            gate[n] = gate[n] / (1 + Math.exp(-gate[n])) * up[n];
        }
        double[] down = multiply(expert.down(), gate);
        for (int h = 0; h < output.length; h++) {
            output[h] += weight * down[h];
        }
    }

    private static double[] multiply(Nvfp4Tensor matrix, double[] vector) {
        float[] weights = matrix.dequantise();
        double[] product = new double[matrix.n()];
        for (int i = 0; i < weights.length; i++) {
            product[i / matrix.k()] += (double) weights[i] * vector[i % matrix.k()];
        }
        return product;
    }
}
