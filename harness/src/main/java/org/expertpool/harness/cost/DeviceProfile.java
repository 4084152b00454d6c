package org.expertpool.harness.cost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.expertpool.pool.BadInputException;

/**
 * What the cost model needs to know of a card, its link and the engine that drives it. Read from TOML: each constant is
 * a table of {@code value}, {@code kind} (measured, fitted, datasheet or assumed) and {@code source}.
 *
 * @param name the profile's name, such as {@code h200}
 * @param label the card in words, for figures
 * @param fittedOn what the fitted constants were fitted on, and against what the profile was validated
 * @param constants every constant of {@link #KEYS}, by name
 */
public record DeviceProfile(String name, String label, String fittedOn, Map<String, ProfileConstant> constants) {
    /** Profiles that come with the harness. */
    public static final List<String> NAMES = List.of("h200", "h200-pool", "rtx-pro-6000-48gib");

    /** Every constant of a profile; the name ends in its unit. */
    public static final List<String> KEYS = List.of(
            "memory_bytes",
            "usable_fraction",
            "cuda_context_bytes",
            "hbm_read_gb_per_s",
            "moe_gb_per_s",
            "moe_fixed_us",
            "zero_copy_gb_per_s",
            "copy_latency_us",
            "copy_empty_us",
            "overlap_us",
            "planner_hit_us",
            "planner_miss_base_us",
            "planner_per_miss_us",
            "launch_us",
            "graph_launch_us",
            "graph_node_us",
            "eager_gap_us",
            "moe_kernels_per_layer",
            "dense_kernels_per_layer",
            "engine_us_per_forward");

    private static final int SIGNIFICANT_DIGITS = 6;

    public DeviceProfile {
        constants = Map.copyOf(constants);
    }

    /** The value of one constant, in the unit its name ends in. */
    public double value(String key) {
        ProfileConstant constant = constants.get(key);
        if (constant == null) {
            throw new IllegalArgumentException("profile " + name + " has no constant " + key);
        }
        return constant.value();
    }

    /** The same card with other values of some constants. */
    public DeviceProfile with(Map<String, ProfileConstant> others) {
        Map<String, ProfileConstant> all = new TreeMap<>(constants);
        all.putAll(others);
        return new DeviceProfile(name, label, fittedOn, all);
    }

    /** The profile as a file that {@link #load} reads; values to six significant digits. */
    public String toml(String newName, String newFittedOn) {
        StringBuilder text = new StringBuilder();
        Map<String, String> head = new LinkedHashMap<>();
        head.put("name", newName);
        head.put("label", label);
        head.put("fitted_on", newFittedOn);
        head.forEach((key, value) ->
                text.append(key).append(" = \"").append(quoted(value)).append("\"\n"));
        text.append('\n');
        for (String key : KEYS) {
            ProfileConstant constant = constants.get(key);
            BigDecimal value = new BigDecimal(constant.value()).round(new MathContext(SIGNIFICANT_DIGITS));
            boolean whole = constant.value() == Math.rint(constant.value());
            text.append(String.format(
                    Locale.ROOT,
                    "%s = { value = %s, kind = \"%s\", source = \"%s\" }%n",
                    key,
                    whole ? Long.toString((long) constant.value()) : value.toPlainString(),
                    constant.kind().name().toLowerCase(Locale.ROOT),
                    quoted(constant.source())));
        }
        return text.toString();
    }

    private static String quoted(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    /** The profile called {@code nameOrFile}: a name of {@link #NAMES}, or a TOML file. */
    public static DeviceProfile load(String nameOrFile) {
        try {
            if (NAMES.contains(nameOrFile)) {
                try (InputStream in = DeviceProfile.class.getResourceAsStream(nameOrFile + ".toml")) {
                    return read(nameOrFile + ".toml", new TomlMapper().readTree(in));
                }
            }
            Path file = Path.of(nameOrFile);
            if (!nameOrFile.endsWith(".toml") || !Files.isReadable(file)) {
                throw new BadInputException("device profile '" + nameOrFile
                        + "' is neither a known name nor a readable .toml file; known: " + String.join(", ", NAMES));
            }
            return read(nameOrFile, new TomlMapper().readTree(file.toFile()));
        } catch (IOException e) {
            throw new BadInputException("device profile " + nameOrFile + ": not TOML: " + e.getMessage(), e);
        }
    }

    private static DeviceProfile read(String file, JsonNode root) {
        Map<String, ProfileConstant> constants = new TreeMap<>();
        for (Iterator<String> names = root.fieldNames(); names.hasNext(); ) {
            String key = names.next();
            if (KEYS.contains(key)) {
                constants.put(key, constant(file, key, root.get(key)));
            } else if (!List.of("name", "label", "fitted_on").contains(key)) {
                throw new BadInputException(file + ": unknown key '" + key + "'; expected name, label, fitted_on, "
                        + String.join(", ", KEYS));
            }
        }
        for (String key : KEYS) {
            if (!constants.containsKey(key)) {
                throw new BadInputException(file + ": constant '" + key + "' is missing");
            }
        }
        return new DeviceProfile(
                text(file, root, "name"), text(file, root, "label"), text(file, root, "fitted_on"), constants);
    }

    private static ProfileConstant constant(String file, String key, JsonNode node) {
        JsonNode value = node.path("value");
        if (!value.isNumber()) {
            throw new BadInputException(file + ": " + key + ".value is missing or not a number");
        }
        String kind = text(file, node, "kind");
        try {
            return new ProfileConstant(
                    value.asDouble(),
                    ProfileConstant.Kind.valueOf(kind.toUpperCase(Locale.ROOT)),
                    text(file, node, "source"));
        } catch (IllegalArgumentException e) {
            throw new BadInputException(file + ": " + key + ": " + e.getMessage(), e);
        }
    }

    private static String text(String file, JsonNode node, String key) {
        if (!node.path(key).isTextual()) {
            throw new BadInputException(file + ": '" + key + "' is missing or not a string");
        }
        return node.get(key).asText();
    }
}
