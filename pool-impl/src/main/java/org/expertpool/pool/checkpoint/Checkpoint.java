package org.expertpool.pool.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.format.E4M3;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.model.ModelGeometry;

/**
 * A ModelOpt NVFP4 checkpoint directory: config.json, the quantisation's configuration, safetensors files. Layers are
 * counted over those that have experts. Once open, every expert tensor is known to be there with the right type and
 * shape; their bytes are read when asked for.
 */
public final class Checkpoint {
    private static final int MINUS_ZERO = 0x80;
    private static final int KV_BF16_BYTES = 2;

    private final Path folder;
    private final CheckpointConfig config;
    private final TensorIndex tensors;
    private final ExpertTensors names;
    private final ModelGeometry geometry;

    private Checkpoint(
            Path folder, CheckpointConfig config, TensorIndex tensors, ExpertTensors names, ModelGeometry geometry) {
        this.folder = folder;
        this.config = config;
        this.tensors = tensors;
        this.names = names;
        this.geometry = geometry;
    }

    /**
     * Opens a directory and checks all of it but the values.
     *
     * @throws BadInputException anything that is not a readable checkpoint of this form, by file and tensor or field
     */
    public static Checkpoint open(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new BadInputException(folder + ": not a directory, expected a checkpoint");
        }
        CheckpointConfig config = CheckpointConfig.read(folder);
        Quantisation quantisation = Quantisation.read(folder, config.root());
        TensorIndex tensors = TensorIndex.open(folder);
        ExpertTensors names = ExpertTensors.find(tensors, config);
        Checkpoint checkpoint =
                new Checkpoint(folder, config, tensors, names, geometry(folder, config, quantisation, tensors, names));
        checkpoint.requireExperts(quantisation);
        return checkpoint;
    }

    public Path folder() {
        return folder;
    }

    /** Sizes; its name is the folder's. Fixed bytes are those of all tensors outside the routed experts. */
    public ModelGeometry geometry() {
        return geometry;
    }

    /** All tensors, in the order of their files. */
    public List<StoredTensor> tensors() {
        return List.copyOf(tensors.all());
    }

    /**
     * SHA-256, in lower-case hex, of every tensor's file name, name, type, shape and offset, in order: tells checkpoints
     * of other shapes apart without reading their weights.
     */
    public String headersSha256() {
        MessageDigest digest = sha256();
        for (StoredTensor tensor : tensors.all()) {
            String line = tensor.file().getFileName() + " " + tensor.name() + " " + tensor.type() + " " + tensor.shape()
                    + " " + tensor.offset() + "\n";
            digest.update(line.getBytes(StandardCharsets.UTF_8));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible); // every JDK has it
        }
    }

    /** The number that a layer has in the model, where layers without experts count too. */
    public int layerNumber(int layer) {
        return config.moeLayers().get(layer);
    }

    /**
     * An expert in checkpoint form, in new memory.
     *
     * @throws BadInputException a scale that is negative or no finite number, by file and tensor
     */
    public PlainExpert expert(int layer, int expert) {
        return new PlainExpert(
                projection(layer, expert, names.gate()),
                projection(layer, expert, names.up()),
                projection(layer, expert, names.down()));
    }

    /** Name of an expert's module in the files, for messages. */
    public String expertName(int layer, int expert) {
        String gate = names.module(layerNumber(layer), expert, names.gate());
        return gate.substring(0, gate.lastIndexOf('.'));
    }

    /** One tensor of an expert's projection, checked for type and shape. */
    private StoredTensor tensor(int layer, int expert, String projection, String part) {
        boolean down = projection.equals(names.down());
        long n = down ? config.hidden() : config.expertWidth();
        long k = down ? config.expertWidth() : config.hidden();
        StoredTensor tensor = tensors.get(names.module(layerNumber(layer), expert, projection) + "." + part);
        return switch (part) {
            case ExpertTensors.WEIGHT -> tensor.require(TensorType.U8, List.of(n, k / 2));
            case ExpertTensors.SCALE -> tensor.require(TensorType.F8_E4M3, List.of(n, k / Nvfp4Tensor.BLOCK));
            default -> tensor.require(TensorType.F32, List.of());
        };
    }

    private void requireExperts(Quantisation quantisation) {
        for (int layer = 0; layer < geometry.layers(); layer++) {
            for (int expert = 0; expert < config.experts(); expert++) {
                for (String projection : names.projections()) {
                    quantisation.requireQuantised(names.module(layerNumber(layer), expert, projection));
                    tensor(layer, expert, projection, ExpertTensors.WEIGHT);
                    tensor(layer, expert, projection, ExpertTensors.SCALE);
                    tensor(layer, expert, projection, ExpertTensors.GLOBAL_SCALE);
                }
            }
        }
    }

    private Nvfp4Tensor projection(int layer, int expert, String projection) {
        StoredTensor weight = tensor(layer, expert, projection, ExpertTensors.WEIGHT);
        int n = Math.toIntExact(weight.shape().get(0));
        int k = Math.toIntExact(2 * weight.shape().get(1));
        return new Nvfp4Tensor(
                n,
                k,
                bytes(weight),
                blockScales(tensor(layer, expert, projection, ExpertTensors.SCALE)),
                globalScale(tensor(layer, expert, projection, ExpertTensors.GLOBAL_SCALE)));
    }

    private static byte[] bytes(StoredTensor tensor) {
        ByteBuffer data = tensor.data();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return bytes;
    }

    private static byte[] blockScales(StoredTensor tensor) {
        byte[] scales = bytes(tensor);
        for (int i = 0; i < scales.length; i++) {
            if (E4M3.isNaN(scales[i]) || (scales[i] < 0 && (scales[i] & 0xFF) != MINUS_ZERO)) {
                throw tensor.bad(String.format(
                        Locale.ROOT,
                        "byte %d is 0x%02x (%s), expected a block scale that is a number and not negative",
                        i,
                        scales[i],
                        E4M3.decode(scales[i])));
            }
        }
        return scales;
    }

    private static float globalScale(StoredTensor tensor) {
        float scale = tensor.data().getFloat();
        if (!(scale >= 0) || Float.isInfinite(scale)) {
            throw tensor.bad("is " + scale + ", expected a finite number that is not negative");
        }
        return scale;
    }

    private static ModelGeometry geometry(
            Path folder, CheckpointConfig config, Quantisation quantisation, TensorIndex tensors, ExpertTensors names) {
        long dense = 0;
        long denseInLayers = 0;
        for (StoredTensor tensor : tensors.all()) {
            if (!ExpertTensors.isExpert(tensor)) {
                dense += tensor.bytes();
                denseInLayers += tensor.name().startsWith(names.root() + "layers.") ? tensor.bytes() : 0;
            }
        }
        int layers = config.moeLayers().size();
        // An FP8 cache takes one byte a value; of other kinds the unquantised size is an upper bound.
        int kvBytes = quantisation.kvCache().orElse("").equals("FP8") ? 1 : KV_BF16_BYTES;
        try {
            return new ModelGeometry(
                    String.valueOf(folder.toAbsolutePath().normalize().getFileName()),
                    layers,
                    config.experts(),
                    config.topK(),
                    config.hidden(),
                    config.expertWidth(),
                    config.kvValuesPerToken() * kvBytes,
                    denseInLayers / layers,
                    dense);
        } catch (BadInputException unfit) {
            throw new BadInputException(config.root().file() + ": " + unfit.getMessage(), unfit);
        }
    }
}
