package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.format.Nvfp4Tensor;

/**
 * A small checkpoint in memory: the tensors of seeded experts, which a test damages before it writes them. What the
 * experts are in Marlin form, {@link SyntheticExperts} says without any conversion.
 */
public final class CheckpointFixture {
    static final int LAYERS = 2;
    static final int EXPERTS = 4;
    static final ExpertRowLayout LAYOUT = new ExpertRowLayout(128, 64);
    static final SyntheticExperts EXPERT_ROWS = new SyntheticExperts(7, LAYERS, EXPERTS, LAYOUT);

    /** One tensor as it will be written. */
    public static final class Tensor {
        final String type;
        final long[] shape;
        final byte[] bytes;

        Tensor(String type, long[] shape, byte[] bytes) {
            this.type = type;
            this.shape = shape;
            this.bytes = bytes;
        }
    }

    final ObjectNode config = new ObjectMapper().createObjectNode();
    final ObjectNode quantisation = new ObjectMapper().createObjectNode();
    final Map<String, Tensor> tensors = new LinkedHashMap<>();

    public CheckpointFixture() {
        this("model.layers.%d.mlp.experts.%d.", "gate_proj", "up_proj", "down_proj");
    }

    /** @param prefix of an expert's tensors, with places for layer and expert */
    CheckpointFixture(String prefix, String gate, String up, String down) {
        config.put("num_hidden_layers", LAYERS)
                .put("hidden_size", LAYOUT.hidden())
                .put("moe_intermediate_size", LAYOUT.expertWidth())
                .put("num_experts", EXPERTS)
                .put("num_experts_per_tok", 2)
                .put("num_attention_heads", 2)
                .put("num_key_value_heads", 1)
                .put("hidden_act", "silu");
        quantisation
                .putObject("quantization")
                .put("quant_algo", "NVFP4")
                .put("group_size", 16)
                .putArray("exclude_modules")
                .add("lm_head")
                .add("model.layers.0.mlp.gate");
        tensors.put("lm_head.weight", new Tensor("BF16", new long[] {8, 128}, new byte[2048]));
        for (int layer = 0; layer < LAYERS; layer++) {
            tensors.put(
                    "model.layers." + layer + ".mlp.gate.weight",
                    new Tensor("BF16", new long[] {EXPERTS, 128}, new byte[EXPERTS * 256]));
            for (int expert = 0; expert < EXPERTS; expert++) {
                PlainExpert plain = EXPERT_ROWS.plain(layer, expert);
                String name = String.format(prefix, layer, expert);
                add(name + gate, plain.gate());
                add(name + up, plain.up());
                add(name + down, plain.down());
            }
        }
    }

    private void add(String name, Nvfp4Tensor tensor) {
        tensors.put(name + ".weight", new Tensor("U8", new long[] {tensor.n(), tensor.k() / 2}, tensor.codes()));
        tensors.put(
                name + ".weight_scale",
                new Tensor("F8_E4M3", new long[] {tensor.n(), tensor.k() / 16}, tensor.scales()));
        tensors.put(name + ".weight_scale_2", scalar(tensor.globalScale()));
    }

    public static Tensor scalar(float value) {
        byte[] bytes = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(value)
                .array();
        return new Tensor("F32", new long[0], bytes);
    }

    /** Replaces a tensor that must be there. */
    public void replace(String name, Tensor tensor) {
        if (tensors.replace(name, tensor) == null) {
            throw new AssertionError(name);
        }
    }

    /** One file, no index. */
    public Path write(Path folder) throws IOException {
        writeConfigurations(folder);
        SafetensorsWriter file = new SafetensorsWriter();
        tensors.forEach((name, tensor) -> file.add(name, tensor.type, tensor.shape, tensor.bytes));
        file.write(folder.resolve("model.safetensors"));
        return folder;
    }

    /** Several files with an index, tensors dealt out in turn. */
    Path writeShards(Path folder, int shards) throws IOException {
        writeConfigurations(folder);
        SafetensorsWriter[] files = new SafetensorsWriter[shards];
        ObjectNode index = new ObjectMapper().createObjectNode();
        ObjectNode map = index.putObject("weight_map");
        int next = 0;
        for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
            int shard = next++ % shards;
            files[shard] = files[shard] == null ? new SafetensorsWriter() : files[shard];
            Tensor tensor = entry.getValue();
            files[shard].add(entry.getKey(), tensor.type, tensor.shape, tensor.bytes);
            map.put(entry.getKey(), shardName(shard, shards));
        }
        for (int shard = 0; shard < shards; shard++) {
            files[shard].write(folder.resolve(shardName(shard, shards)));
        }
        Files.writeString(folder.resolve(TensorIndex.INDEX), index.toString());
        return folder;
    }

    static String shardName(int shard, int shards) {
        return String.format("model-%05d-of-%05d.safetensors", shard + 1, shards);
    }

    private void writeConfigurations(Path folder) throws IOException {
        Files.writeString(folder.resolve("config.json"), config.toString());
        if (!quantisation.isEmpty()) {
            Files.writeString(folder.resolve("hf_quant_config.json"), quantisation.toString());
        }
    }
}
