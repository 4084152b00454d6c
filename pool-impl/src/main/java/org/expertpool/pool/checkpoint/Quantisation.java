package org.expertpool.pool.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;

/**
 * How a checkpoint says that it is quantised: ModelOpt's {@code hf_quant_config.json}, the {@code quantization_config} in
 * config.json that newer exports have, or both.
 *
 * @param file that says so, for messages
 * @param excluded patterns of the modules that are not quantised
 * @param kvCache algorithm of the KV cache, where one is named
 */
record Quantisation(String file, List<String> excluded, Optional<String> kvCache) {
    private static final String SEPARATE = "hf_quant_config.json";
    private static final String EMBEDDED = "quantization_config";
    private static final String ALGORITHM = "NVFP4";

    /** @throws BadInputException another quantisation than ModelOpt's NVFP4 in groups of 16, or none */
    static Quantisation read(Path folder, JsonFields config) throws IOException {
        Path file = folder.resolve(SEPARATE);
        Optional<JsonFields> embedded = config.object(EMBEDDED);
        Optional<Quantisation> inConfig = embedded.map(Quantisation::embedded);
        if (!Files.exists(file)) {
            return inConfig.orElseThrow(() -> new BadInputException(folder + ": neither " + SEPARATE + " nor "
                    + EMBEDDED + " in config.json, expected a checkpoint that is quantised to " + ALGORITHM));
        }
        JsonFields root = new JsonFields(file.toString(), JsonText.object(file));
        JsonFields separate = root.object("quantization")
                .orElseThrow(() -> new BadInputException(file + ": the field quantization is missing"));
        Quantisation alone = of(separate, "exclude_modules", "kv_cache_quant_algo");
        List<String> excluded = new ArrayList<>(alone.excluded);
        inConfig.ifPresent(other -> excluded.addAll(other.excluded));
        return new Quantisation(alone.file, List.copyOf(excluded), alone.kvCache);
    }

    private static Quantisation embedded(JsonFields fields) {
        String method = fields.text("quant_method").orElse("");
        if (!method.startsWith("modelopt")) {
            // compressed-tensors, for one, stores reciprocals of the global scales.
            throw fields.bad("quant_method", "modelopt");
        }
        return of(fields, "ignore", "kv_cache_quant_algo");
    }

    private static Quantisation of(JsonFields fields, String ignored, String kvCache) {
        if (!fields.text("quant_algo").orElse("").equals(ALGORITHM)) {
            throw fields.bad("quant_algo", ALGORITHM);
        }
        requireGroups(fields);
        Stream.concat(fields.object("config_groups").stream().flatMap(Quantisation::values), Stream.of(fields))
                .flatMap(group -> group.object("weights").stream())
                .forEach(Quantisation::requireGroups);
        List<String> excluded = new ArrayList<>(fields.texts("exclude_modules"));
        excluded.addAll(ignored.equals("exclude_modules") ? List.of() : fields.texts(ignored));
        return new Quantisation(fields.file(), List.copyOf(excluded), fields.text(kvCache));
    }

    private static Stream<JsonFields> values(JsonFields groups) {
        List<JsonFields> values = new ArrayList<>();
        groups.node().fieldNames().forEachRemaining(name -> groups.object(name).ifPresent(values::add));
        return values.stream();
    }

    private static void requireGroups(JsonFields fields) {
        if (fields.integer(1, "group_size").orElse(Nvfp4Tensor.BLOCK) != Nvfp4Tensor.BLOCK) {
            throw fields.bad("group_size", Integer.toString(Nvfp4Tensor.BLOCK));
        }
    }

    /** Refuses a module that must be quantised but is excluded, by its own name or that of a module around it. */
    void requireQuantised(String module) {
        for (String pattern : excluded) {
            if (Glob.covers(pattern, module)) {
                throw new BadInputException(file + ": excludes " + JsonText.shown(pattern)
                        + " from quantisation, which covers " + module + ", expected experts in " + ALGORITHM);
            }
        }
    }
}
