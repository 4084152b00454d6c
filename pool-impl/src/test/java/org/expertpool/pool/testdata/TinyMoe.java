package org.expertpool.pool.testdata;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.format.Nvfp4Tensor;

/** The small trained NVFP4 model of the shared test data: its experts, and what an independent program computed. */
public final class TinyMoe {
    public static final int LAYERS = 8;
    public static final int EXPERTS = 128;
    public static final int TOP_K = 8;
    public static final int HIDDEN = 256;
    public static final int WIDTH = 64;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final JsonNode fileOfTensor;
    private final Map<String, JsonNode> headers = new HashMap<>();

    /** MoE inputs and outputs of one token in one layer. */
    public static final class Call {
        public final int layer;
        public final float[] input; // [hidden]
        public final int[] ids; // [topK]
        public final float[] weights; // [topK]
        public final float[] output; // [hidden], the weighted sum of the experts

        private Call(int layer, float[] input, int[] ids, float[] weights, float[] output) {
            this.layer = layer;
            this.input = input;
            this.ids = ids;
            this.weights = weights;
            this.output = output;
        }
    }

    private TinyMoe(Path folder) throws IOException {
        this.folder = folder;
        fileOfTensor = JSON.readTree(
                        folder.resolve("model.safetensors.index.json").toFile())
                .get("weight_map");
    }

    /** Opens the model, or skips the running test where the shared data is not there. */
    public static TinyMoe openOrSkip() throws IOException {
        Path folder = shared().resolve("data/tiny-moe");
        assumeTrue(Files.isDirectory(folder), "skipped: no shared test data at " + folder + " (-Dshared.dir=...)");
        return new TinyMoe(folder);
    }

    private static Path shared() {
        String property = System.getProperty("shared.dir");
        if (property != null) {
            return Path.of(property);
        }
        Path root = Path.of("").toAbsolutePath();
        while (root.getParent() != null && !Files.isDirectory(root.resolve(".mvn"))) {
            root = root.getParent();
        }
        return root.resolveSibling("shared");
    }

    public Path folder() {
        return folder;
    }

    public PlainExpert expert(int layer, int expert) throws IOException {
        String prefix = "model.layers." + layer + ".mlp.experts." + expert + ".";
        return new PlainExpert(
                projection(prefix + "gate_proj", WIDTH, HIDDEN),
                projection(prefix + "up_proj", WIDTH, HIDDEN),
                projection(prefix + "down_proj", HIDDEN, WIDTH));
    }

    /** The router's weights, bf16 [experts, hidden]. */
    public ShortBuffer router(int layer) throws IOException {
        return tensor("model.layers." + layer + ".mlp.gate.weight").asShortBuffer();
    }

    private Nvfp4Tensor projection(String name, int n, int k) throws IOException {
        return new Nvfp4Tensor(
                n,
                k,
                tensor(name + ".weight").array(),
                tensor(name + ".weight_scale").array(),
                tensor(name + ".weight_scale_2").getFloat());
    }

    /** The bytes of one tensor of a safetensors file: 8 bytes header length, JSON header, data. */
    private ByteBuffer tensor(String name) throws IOException {
        String fileName = fileOfTensor.get(name).asText();
        try (FileChannel file = FileChannel.open(folder.resolve(fileName))) {
            int headerBytes = (int) read(file, 0, 8).getLong();
            if (!headers.containsKey(fileName)) {
                headers.put(fileName, JSON.readTree(read(file, 8, headerBytes).array()));
            }
            JsonNode offsets = headers.get(fileName).get(name).get("data_offsets");
            long from = offsets.get(0).asLong();
            return read(file, 8L + headerBytes + from, (int) (offsets.get(1).asLong() - from));
        }
    }

    private static ByteBuffer read(FileChannel file, long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, at + buffer.position()) < 0) {
                throw new IOException("file ends early");
            }
        }
        return buffer.flip();
    }

    /** All calls of all golden prompts: position after position, layers ascending. */
    public List<Call> golden() throws IOException {
        Path golden = folder.resolve("golden");
        List<Call> calls = new ArrayList<>();
        for (JsonNode prompt :
                JSON.readTree(golden.resolve("golden.json").toFile()).get("prompts")) {
            byte[] bytes = Files.readAllBytes(golden.resolve(prompt.get("file").asText()));
            ByteBuffer data = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            JsonNode sections = prompt.get("sections");
            for (int i = 0; i < prompt.get("hidden_positions").size(); i++) {
                int position = prompt.get("hidden_positions").get(i).asInt();
                for (int layer = 0; layer < LAYERS; layer++) {
                    calls.add(call(data, sections, position * LAYERS + layer, i * LAYERS + layer, layer));
                }
            }
        }
        return calls;
    }

    private static Call call(ByteBuffer data, JsonNode sections, int routing, int tokens, int layer) {
        int[] ids = new int[TOP_K];
        int from = sections.get("expert_ids").get("offset").asInt() + 4 * routing * TOP_K;
        for (int slot = 0; slot < TOP_K; slot++) {
            ids[slot] = data.getInt(from + 4 * slot);
        }
        return new Call(
                layer,
                floats(data, sections.get("moe_input"), tokens, HIDDEN),
                ids,
                floats(data, sections.get("expert_weights"), routing, TOP_K),
                floats(data, sections.get("moe_output"), tokens, HIDDEN));
    }

    private static float[] floats(ByteBuffer data, JsonNode section, int index, int length) {
        float[] values = new float[length];
        int from = section.get("offset").asInt() + 4 * index * length;
        for (int i = 0; i < length; i++) {
            values[i] = data.getFloat(from + 4 * i);
        }
        return values;
    }
}
