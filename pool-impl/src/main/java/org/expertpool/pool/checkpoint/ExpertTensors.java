package org.expertpool.pool.checkpoint;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.expertpool.pool.BadInputException;

/**
 * How a checkpoint names its experts' tensors: {@code <root>layers.<layer>.<block>.experts.<expert>.<projection>.<part>}.
 *
 * @param root before "layers."
 * @param block name of the MoE block within a layer
 * @param gate name of the gate projection; the two below likewise
 */
record ExpertTensors(String root, String block, String gate, String up, String down) {
    static final String WEIGHT = "weight";
    static final String SCALE = "weight_scale";
    static final String GLOBAL_SCALE = "weight_scale_2";

    /** What an expert's projection may consist of; {@code input_scale} belongs to quantised activations and is not read. */
    private static final Set<String> PARTS = Set.of(WEIGHT, SCALE, GLOBAL_SCALE, "input_scale");

    // Heads that predict further tokens have roots such as "mtp.": their experts are not among the model's layers.
    private static final List<String> ROOTS = List.of("model.", "model.language_model.", "language_model.model.");
    private static final Pattern NAME =
            Pattern.compile("(.*?)layers\\.(\\d{1,6})\\.(mlp|block_sparse_moe)\\.experts\\.(.+)");
    private static final Pattern REST = Pattern.compile("(\\d{1,6})\\.(gate_proj|up_proj|down_proj|w1|w2|w3)\\.(.+)");

    /**
     * One tensor below a layer's experts.
     *
     * @param style root and block by which it is named
     * @param rest what follows "experts."
     */
    private record Found(ExpertTensors style, int layer, String rest) {}

    /**
     * The one way in which the experts of a checkpoint are named.
     *
     * @throws BadInputException no experts, several ways, or experts in a form that is not read
     */
    static ExpertTensors find(TensorIndex index, CheckpointConfig config) {
        Set<ExpertTensors> styles = new HashSet<>();
        for (StoredTensor tensor : index.all()) {
            Optional<Found> found = parse(tensor.name());
            if (found.isPresent() && found.get().layer < config.layers()) {
                requireKnown(tensor, found.get(), config);
                styles.add(found.get().style);
                if (styles.size() > 1) {
                    throw tensor.bad("names experts in a second way, beside " + styles);
                }
            }
        }
        if (styles.isEmpty()) {
            throw new BadInputException(index.folder()
                    + ": no tensor of an expert, expected names such as model.layers.0.mlp.experts.0.gate_proj.weight");
        }
        return styles.iterator().next();
    }

    /** Whether a tensor is one of a routed expert, of the model's layers or of a head beside them. */
    static boolean isExpert(StoredTensor tensor) {
        return NAME.matcher(tensor.name()).matches();
    }

    private static Optional<Found> parse(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches() || !ROOTS.contains(parts.group(1))) {
            return Optional.empty();
        }
        Matcher rest = REST.matcher(parts.group(4));
        boolean numbered = rest.matches() && rest.group(2).startsWith("w");
        String root = parts.group(1);
        String block = parts.group(3);
        ExpertTensors style = numbered
                ? new ExpertTensors(root, block, "w1", "w3", "w2")
                : new ExpertTensors(root, block, "gate_proj", "up_proj", "down_proj");
        return Optional.of(new Found(style, Integer.parseInt(parts.group(2)), parts.group(4)));
    }

    private static void requireKnown(StoredTensor tensor, Found found, CheckpointConfig config) {
        Matcher rest = REST.matcher(found.rest);
        if (!rest.matches() || !PARTS.contains(rest.group(3))) {
            throw tensor.bad(
                    "is in a form of experts that is not read, expected <expert>.<gate, up or down>_proj.<part>"
                            + " with the parts weight, weight_scale, weight_scale_2 and input_scale");
        }
        if (!config.moeLayers().contains(found.layer)) {
            throw tensor.bad("is an expert of a layer that config.json has without experts");
        }
        if (Integer.parseInt(rest.group(1)) >= config.experts()) {
            throw tensor.bad("is of an expert beyond the " + config.experts() + " that config.json has");
        }
    }

    /** Name of a projection's module. */
    String module(int layer, int expert, String projection) {
        return root + "layers." + layer + "." + block + ".experts." + expert + "." + projection;
    }

    /** The three projections' names, in the order of the alpha table's columns. */
    List<String> projections() {
        return List.of(gate, up, down);
    }
}
