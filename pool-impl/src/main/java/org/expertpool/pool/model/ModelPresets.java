package org.expertpool.pool.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.expertpool.pool.BadInputException;

/** Reads model geometries: the presets that come with the library, or a TOML file of the same fields. */
public final class ModelPresets {
    /** The presets, in the order in which they are listed. */
    public static final List<String> NAMES =
            List.of("qwen3.8-flash-next", "qwen3-next-80b-a3b", "qwen3-30b-a3b", "gpt-oss-20b", "tiny-moe", "tiny");

    private static final List<String> FIELDS = List.of(
            "layers",
            "experts",
            "topK",
            "hidden",
            "expertWidth",
            "kvBytesPerToken",
            "denseBytesPerLayer",
            "fixedBytes");

    private ModelPresets() {}

    /**
     * The geometry of a preset, or of a TOML file where the argument is a path that ends with {@code .toml}.
     *
     * @throws BadInputException unknown preset, unreadable file, unknown, missing or wrong field
     */
    public static ModelGeometry load(String nameOrPath) {
        if (NAMES.contains(nameOrPath)) {
            return parse(nameOrPath, nameOrPath, preset(nameOrPath));
        }
        if (!nameOrPath.endsWith(".toml")) {
            throw new BadInputException("model " + nameOrPath + ": expected one of " + String.join(", ", NAMES)
                    + ", a .toml file or a checkpoint directory");
        }
        return parse(nameOrPath, stem(nameOrPath), file(nameOrPath));
    }

    private static ModelGeometry parse(String place, String name, String toml) {
        JsonNode root = tree(place, toml);
        for (Iterator<String> names = root.fieldNames(); names.hasNext(); ) {
            String field = names.next();
            if (!FIELDS.contains(field)) {
                throw new BadInputException(
                        "model " + place + ": field " + field + " is unknown, expected " + String.join(", ", FIELDS));
            }
        }
        return new ModelGeometry(
                name,
                int32(place, root, "layers"),
                int32(place, root, "experts"),
                int32(place, root, "topK"),
                int32(place, root, "hidden"),
                int32(place, root, "expertWidth"),
                int64(place, root, "kvBytesPerToken"),
                int64(place, root, "denseBytesPerLayer"),
                int64(place, root, "fixedBytes"));
    }

    private static JsonNode tree(String place, String toml) {
        try {
            return new TomlMapper().readTree(toml);
        } catch (JsonProcessingException e) {
            int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
            throw new BadInputException("model " + place + ":" + line + ": not TOML: " + e.getOriginalMessage(), e);
        }
    }

    private static int int32(String place, JsonNode root, String field) {
        long value = int64(place, root, field);
        if (value != (int) value) {
            throw new BadInputException(
                    "model " + place + ": " + field + " is " + value + ", expected at most " + Integer.MAX_VALUE);
        }
        return (int) value;
    }

    private static long int64(String place, JsonNode root, String field) {
        JsonNode value = root.get(field);
        if (value == null) {
            throw new BadInputException("model " + place + ": field " + field + " is missing, expected a whole number");
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new BadInputException(
                    "model " + place + ": " + field + " is " + value + ", expected a 64-bit whole number");
        }
        return value.longValue();
    }

    private static String preset(String name) {
        String resource = "presets/" + name + ".toml";
        try (InputStream in = ModelPresets.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("resource " + resource + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String file(String path) {
        try {
            return Files.readString(Path.of(path));
        } catch (IOException e) {
            throw new BadInputException("model " + path + ": cannot be read, expected a TOML file in UTF-8", e);
        }
    }

    private static String stem(String path) {
        String file = String.valueOf(Path.of(path).getFileName());
        return file.substring(0, file.length() - ".toml".length());
    }
}
