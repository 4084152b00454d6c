package org.expertpool.pool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.checkpoint.CheckpointFixture.Tensor;
import org.expertpool.pool.model.ModelGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CheckpointTest {
    private static final String EXPERT = "model.layers.1.mlp.experts.2.";

    @TempDir
    Path folder;

    private final CheckpointFixture fixture = new CheckpointFixture();

    @Test
    void readsTheGeometry() throws IOException {
        long router = 4 * 128 * 2;
        assertThat(Checkpoint.open(fixture.write(folder)).geometry())
                .isEqualTo(new ModelGeometry(
                        folder.getFileName().toString(), 2, 4, 2, 128, 64, 2 * 2 * 64 * 2, router, 2 * router + 2048));
    }

    @Test
    void countsTheCacheOfAttentionLayersAlone() throws IOException {
        fixture.config.putArray("layer_types").add("linear_attention").add("full_attention");
        fixture.config.put("head_dim", 32);
        ((ObjectNode) fixture.quantisation.get("quantization")).put("kv_cache_quant_algo", "FP8");
        assertThat(Checkpoint.open(fixture.write(folder)).geometry().kvBytesPerToken())
                .isEqualTo(2 * 32);
    }

    @Test
    void countsCompressedCaches() throws IOException {
        fixture.config.put("kv_lora_rank", 512).put("qk_rope_head_dim", 64);
        assertThat(Checkpoint.open(fixture.write(folder)).geometry().kvBytesPerToken())
                .isEqualTo(2 * 2 * 576);
    }

    /** Layers without experts stand before, between or after those that have some. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'num_hidden_layers':3,'mlp_only_layers':[2]} | 0,1",
                "{'num_hidden_layers':2,'moe_layer_freq':1,'first_k_dense_replace':0} | 0,1",
                "{'num_hidden_layers':4,'moe_layer_freq':[1,1,0,0]} | 0,1"
            })
    void findsTheLayersWithExperts(String config, String layers) throws IOException {
        fixture.config.setAll((ObjectNode) new ObjectMapper().readTree(config.replace('\'', '"')));
        Checkpoint checkpoint = Checkpoint.open(fixture.write(folder));
        assertThat(checkpoint.geometry().layers() + ": " + checkpoint.layerNumber(0) + "," + checkpoint.layerNumber(1))
                .isEqualTo("2: " + layers);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'decoder_sparse_step':2} | [1, 3, 5]",
                "{'moe_layer_freq':2} | [0, 2, 4]",
                "{'moe_layer_freq':2,'first_k_dense_replace':1} | [2, 4]",
                "{'moe_layer_freq':[0,0,1,0,1,1]} | [2, 4, 5]",
                "{'decoder_sparse_step':2,'mlp_only_layers':[3]} | [1, 5]",
                "{'mlp_only_layers':[],'first_k_dense_replace':null} | [0, 1, 2, 3, 4, 5]"
            })
    void knowsWhichLayersHaveExperts(String fields, String layers) throws IOException {
        fixture.config.put("num_hidden_layers", 6);
        fixture.config.setAll((ObjectNode) new ObjectMapper().readTree(fields.replace('\'', '"')));
        Files.writeString(folder.resolve("config.json"), fixture.config.toString());
        assertThat(CheckpointConfig.read(folder).moeLayers()).hasToString(layers);
    }

    @Test
    void numbersLayersWithExpertsFromZero() throws IOException {
        CheckpointFixture sparse =
                new CheckpointFixture("model.layers.1%d.mlp.experts.%d.", "gate_proj", "up_proj", "down_proj");
        sparse.config.put("num_hidden_layers", 12).put("first_k_dense_replace", 10);
        Checkpoint checkpoint = Checkpoint.open(sparse.write(folder));
        assertThat(checkpoint.layerNumber(1)).isEqualTo(11);
        assertThat(checkpoint.expert(1, 3).down().codes())
                .isEqualTo(CheckpointFixture.EXPERT_ROWS.plain(1, 3).down().codes());
    }

    /** Nothing is to be computed with, so heads that predict further tokens may bring experts of their own. */
    @Test
    void leavesOtherHeadsAlone() throws IOException {
        Tensor odd = new Tensor("F32", new long[] {3}, new byte[12]);
        fixture.tensors.put("mtp.layers.0.mlp.experts.0.gate_proj.weight", odd);
        fixture.tensors.put("model.layers.2.mlp.experts.9.gate_proj.weight", odd);
        fixture.tensors.put("model.layers.0.mlp.shared_experts.gate_proj.weight", odd);
        long router = 4 * 128 * 2;
        assertThat(Checkpoint.open(fixture.write(folder)).geometry().fixedBytes())
                .isEqualTo(2 * router + 2048 + 12);
    }

    /** Bug 6: a missing tensor is an error, never a value that happens to stand there; the message names it. */
    @ParameterizedTest
    @CsvSource({"gate_proj.weight", "up_proj.weight_scale", "up_proj.weight_scale_2", "down_proj.weight_scale_2"})
    void bug6MissingTensor(String part) throws IOException {
        fixture.tensors.remove(EXPERT + part);
        refused("tensor " + EXPERT + part + " is missing");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gate_proj.weight | U8 | 64,32 | shape is [64, 32], expected [64, 64]",
                "down_proj.weight | U8 | 64,64 | shape is [64, 64], expected [128, 32]",
                "gate_proj.weight | I8 | 64,64 | type is I8, expected U8",
                "up_proj.weight | BF16 | 64,128 | type is BF16, expected U8",
                "up_proj.weight_scale | U8 | 64,8 | type is U8, expected F8_E4M3",
                "up_proj.weight_scale | F8_E4M3 | 128,8 | shape is [128, 8], expected [64, 8]",
                "down_proj.weight_scale_2 | F32 | 2 | shape is [2], expected []",
                "down_proj.weight_scale_2 | BF16 | 1 | type is BF16, expected F32"
            })
    void refusesWrongTypesAndShapes(String part, String type, String sizes, String problem) throws IOException {
        long[] shape = java.util.stream.Stream.of(sizes.split(","))
                .mapToLong(Long::parseLong)
                .toArray();
        int bytes = java.util.stream.LongStream.of(shape)
                .mapToInt(size -> (int) size)
                .reduce(1, (a, b) -> a * b);
        fixture.replace(
                EXPERT + part,
                new Tensor(
                        type, shape, new byte[bytes * TensorType.valueOf(type).bits() / 8]));
        refused(folder.resolve("model.safetensors") + ": tensor " + EXPERT + part + ": " + problem);
    }

    /** Bug 25: with a limit on SwiGLU's values the expert chain would compute something else. */
    @ParameterizedTest
    @CsvSource({"swiglu_limit", "swiglu_limits", "gemm1_clamp_limit", "expert_activation_limit"})
    void bug25LimitedSwiglu(String field) throws IOException {
        fixture.config.put(field, 7.0);
        refused("config.json: " + field + " is 7.0, expected no such field");
    }

    @Test
    void takesAnAbsentLimit() throws IOException {
        fixture.config.putNull("swiglu_limit");
        assertThat(Checkpoint.open(fixture.write(folder)).geometry().layers()).isEqualTo(2);
    }

    /** Bug 17: widths that Marlin's tiles do not divide are refused before anything is read. */
    @Test
    void bug17WidthsOffTheTile() throws IOException {
        fixture.config.put("moe_intermediate_size", 80);
        refused("expertWidth is 80, expected a multiple of 64");
    }

    @Test
    void refusesOtherConfigurations() throws IOException {
        refusedWith(f -> f.config.put("hidden_act", "gelu"), "hidden_act is \"gelu\", expected silu");
        refusedWith(f -> f.config.remove("num_experts"), "num_experts, num_local_experts, n_routed_experts");
        refusedWith(f -> f.config.put("hidden_size", 1.5), "hidden_size is 1.5");
        refusedWith(f -> f.config.put("num_hidden_layers", 2_000_000_000), "num_hidden_layers is 2000000000");
        refusedWith(f -> f.config.put("num_hidden_layers", 5000), "num_hidden_layers is 5000");
        refusedWith(f -> f.config.put("num_experts_per_tok", 5), "topK is 5");
        refusedWith(f -> f.config.put("num_experts", 3), "is of an expert beyond the 3");
        refusedWith(f -> f.config.put("num_experts", 5), "experts.4.gate_proj.weight is missing");
        refusedWith(f -> f.config.put("num_hidden_layers", 3), "layers.2.mlp.experts.0.gate_proj.weight is missing");
        refusedWith(f -> f.config.put("first_k_dense_replace", 1), "config.json has without experts");
        refusedWith(f -> f.config.put("first_k_dense_replace", 9), "no layer has routed experts");
        refusedWith(f -> f.config.putArray("moe_layer_freq").add(1), "moe_layer_freq is [1], expected 2 numbers");
        refusedWith(f -> f.config.putArray("mlp_only_layers").add("x"), "mlp_only_layers is [\"x\"]");
    }

    @Test
    void refusesOtherQuantisations() throws IOException {
        refusedWith(f -> quantisation(f).put("quant_algo", "FP8"), "quant_algo is \"FP8\", expected NVFP4");
        refusedWith(f -> quantisation(f).put("quant_algo", "NVFP4_AWQ"), "quant_algo is \"NVFP4_AWQ\"");
        refusedWith(f -> quantisation(f).remove("quant_algo"), "quant_algo is missing, expected NVFP4");
        refusedWith(f -> quantisation(f).put("group_size", 32), "group_size is 32, expected 16");
        refusedWith(f -> f.quantisation.removeAll(), "neither hf_quant_config.json nor quantization_config");
        refusedWith(f -> f.quantisation.remove("quantization"), "neither hf_quant_config.json");
        refusedWith(
                f -> f.config.putObject("quantization_config").put("quant_method", "compressed-tensors"),
                "quant_method is \"compressed-tensors\", expected modelopt");
        refusedWith(
                f -> quantisation(f).withArray("exclude_modules").add("model.layers.1.mlp.experts*"),
                "excludes model.layers.1.mlp.experts* from quantisation");
        refusedWith(
                f -> quantisation(f).withArray("exclude_modules").add("*.experts.2.down_proj"),
                "covers model.layers.0.mlp.experts.2.down_proj");
        refusedWith(f -> quantisation(f).withArray("exclude_modules").add("model.layers.1"), "covers model.layers.1.");
        refusedWith(f -> quantisation(f).put("exclude_modules", "all"), "exclude_modules is \"all\"");
    }

    /** Newer exports have the quantisation in config.json alone. */
    @Test
    void readsTheEmbeddedQuantisation() throws IOException {
        fixture.quantisation.removeAll();
        ObjectNode embedded = fixture.config.putObject("quantization_config");
        embedded.put("quant_method", "modelopt").put("quant_algo", "NVFP4");
        embedded.putArray("ignore").add("lm_head");
        ObjectNode weights =
                embedded.putObject("config_groups").putObject("group_0").putObject("weights");
        weights.put("num_bits", 4).put("group_size", 16);
        assertThat(Checkpoint.open(fixture.write(folder)).geometry().experts()).isEqualTo(4);
        weights.put("group_size", 32);
        refused("group_size is 32");
        weights.put("group_size", 16);
        embedded.withArray("ignore").add("*.experts*");
        refused("excludes *.experts*");
    }

    /** Forms that other exporters write, each of which would be read wrongly or not at all. */
    @ParameterizedTest
    @CsvSource({
        "model.layers.0.mlp.experts.gate_up_proj",
        "model.layers.0.mlp.experts.0.gate_proj.weight_packed",
        "model.layers.0.mlp.experts.0.gate_proj.weight_global_scale",
        "model.layers.0.mlp.experts.0.gate_proj.pre_quant_scale",
        "model.layers.0.mlp.experts.0.gate_proj.bias",
        "model.layers.0.mlp.experts.0.fc1.weight"
    })
    void refusesOtherFormsOfExperts(String name) throws IOException {
        fixture.tensors.put(name, new Tensor("F32", new long[] {1}, new byte[4]));
        refused("tensor " + name + ": is in a form of experts that is not read");
    }

    @Test
    void refusesTwoWaysOfNaming() throws IOException {
        fixture.tensors.put(
                "model.layers.0.block_sparse_moe.experts.0.w1.weight", new Tensor("U8", new long[] {1}, new byte[1]));
        refused("names experts in a second way");
    }

    @Test
    void refusesWhatIsNoCheckpoint() throws IOException {
        assertThatThrownBy(() -> Checkpoint.open(folder.resolve("nowhere"))).hasMessageContaining("not a directory");
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining("config.json: no such file");
        fixture.tensors.keySet().removeIf(name -> name.contains("experts"));
        refused("no tensor of an expert");
        Files.delete(folder.resolve("model.safetensors"));
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining("no *.safetensors file");
        Files.writeString(folder.resolve("config.json"), "[1]");
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining("config.json: not a JSON object");
        Files.writeString(folder.resolve("config.json"), "{\"a\":1,\"a\":2}");
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining("Duplicate");
    }

    @Test
    void readsShardsWithAnIndexAndWithout() throws IOException {
        fixture.writeShards(folder, 3);
        assertThat(Checkpoint.open(folder).tensors()).hasSize(fixture.tensors.size());
        Files.delete(folder.resolve(TensorIndex.INDEX));
        assertThat(Checkpoint.open(folder).tensors()).hasSize(fixture.tensors.size());
    }

    @Test
    void refusesShardsThatDoNotFitTheIndex() throws IOException {
        fixture.writeShards(folder, 3);
        Path index = folder.resolve(TensorIndex.INDEX);
        String text = Files.readString(index);
        String second = CheckpointFixture.shardName(1, 3);
        for (String[] change : new String[][] {
            {"\"lm_head.weight\":\"model-00001-of-00003", "\"lm_head.weight\":\"model-00002-of-00003", "places it in"},
            {"\"lm_head.weight\"", "\"lm_head.bias\"", "does not name it"},
            {"\"lm_head.weight\":\"model", "\"lm_head.weight\":\"../model", "expected the name of a *.safetensors"},
            {
                "\"lm_head.weight\":\"model-00001-of-00003.safetensors",
                "\"lm_head.weight\":\"config.json",
                "expected the name"
            },
            {"{\"lm_head", "{\"new\":\"" + second + "\",\"lm_head", second + ": tensor new is missing"},
            {"{\"lm_head", "{\"lm_head.weight\":\"" + second + "\",\"lm_head", "Duplicate"},
            {"weight_map", "weight_maps", "weight_map is missing"}
        }) {
            Files.writeString(index, text.replace(change[0], change[1]));
            assertThatThrownBy(() -> Checkpoint.open(folder))
                    .as(change[1])
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining(change[2]);
        }
        Files.writeString(index, text);
        Files.delete(folder.resolve(second));
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining("names the shard " + second);
        Files.delete(index);
        assertThatThrownBy(() -> Checkpoint.open(folder)).hasMessageContaining(second + " is not there");
    }

    @Test
    void refusesATensorInTwoFiles() throws IOException {
        fixture.write(folder);
        Files.copy(folder.resolve("model.safetensors"), folder.resolve("copy.safetensors"));
        assertThatThrownBy(() -> Checkpoint.open(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("tensor lm_head.weight: is in " + folder.resolve("copy.safetensors") + " too");
    }

    @Test
    void refusesATruncatedFile() throws IOException {
        Path file = fixture.write(folder).resolve("model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 1));
        assertThatThrownBy(() -> Checkpoint.open(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("tensor model.layers.1.mlp.experts.3.down_proj.weight_scale_2: data_offsets are");
    }

    private static ObjectNode quantisation(CheckpointFixture fixture) {
        return (ObjectNode) fixture.quantisation.get("quantization");
    }

    private void refusedWith(Consumer<CheckpointFixture> damage, String problem) throws IOException {
        CheckpointFixture damaged = new CheckpointFixture();
        damage.accept(damaged);
        for (String file : List.of("hf_quant_config.json", "model.safetensors")) {
            Files.deleteIfExists(folder.resolve(file));
        }
        damaged.write(folder);
        assertThatThrownBy(() -> Checkpoint.open(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(problem);
    }

    private void refused(String problem) throws IOException {
        fixture.write(folder);
        assertThatThrownBy(() -> Checkpoint.open(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(problem);
    }
}
