package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;

/** All tensors of a checkpoint directory by name, out of one safetensors file or several, with an index or without. */
final class TensorIndex {
    static final String INDEX = "model.safetensors.index.json";
    private static final String SUFFIX = ".safetensors";
    private static final Pattern SHARD = Pattern.compile("(.*)-(\\d{5})-of-(\\d{5})\\.safetensors");

    private final Path folder;
    private final Map<String, StoredTensor> tensors = new LinkedHashMap<>();

    private TensorIndex(Path folder) {
        this.folder = folder;
    }

    static TensorIndex open(Path folder) throws IOException {
        TensorIndex index = new TensorIndex(folder);
        if (Files.exists(folder.resolve(INDEX))) {
            index.readIndexed();
        } else {
            index.readAll();
        }
        return index;
    }

    Path folder() {
        return folder;
    }

    Collection<StoredTensor> all() {
        return Collections.unmodifiableCollection(tensors.values());
    }

    /** A tensor that must be there. */
    StoredTensor get(String name) {
        StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new BadInputException(folder + ": tensor " + name + " is missing");
        }
        return tensor;
    }

    private void readIndexed() throws IOException {
        Map<String, String> shardOf = shardOf();
        for (String shard : new TreeSet<>(shardOf.values())) {
            Path file = folder.resolve(shard);
            if (!Files.isRegularFile(file)) {
                throw new BadInputException(
                        folder.resolve(INDEX) + ": names the shard " + JsonText.shown(shard) + ", which is not there");
            }
            addAll(file);
        }
        tensors.values().forEach(tensor -> requireIndexed(tensor, shardOf.get(tensor.name())));
        for (String name : shardOf.keySet()) {
            if (!tensors.containsKey(name)) {
                throw new BadInputException(folder.resolve(shardOf.get(name)) + ": tensor " + JsonText.shown(name)
                        + " is missing, which " + INDEX + " places here");
            }
        }
    }

    private static void requireIndexed(StoredTensor tensor, String shard) {
        if (!tensor.file().getFileName().toString().equals(shard)) {
            throw tensor.bad(INDEX + (shard == null ? " does not name it" : " places it in " + JsonText.shown(shard)));
        }
    }

    private Map<String, String> shardOf() throws IOException {
        Path file = folder.resolve(INDEX);
        Map<String, String> shardOf = new LinkedHashMap<>();
        try (InputStream in = JsonText.open(file)) {
            JsonText.fields(file.toString(), in, (key, parser) -> {
                if (!key.equals("weight_map")) {
                    parser.skipChildren();
                    return;
                }
                if (parser.currentToken() != JsonToken.START_OBJECT) {
                    throw new BadInputException(file + ": weight_map is not an object");
                }
                JsonText.fields(parser, (name, value) -> shardOf.put(name, shard(file, name, value.getText())));
            });
        }
        if (shardOf.isEmpty()) {
            throw new BadInputException(file + ": weight_map is missing or empty");
        }
        return shardOf;
    }

    /** A shard is a file beside the index: a path that leads elsewhere is not followed. */
    private static String shard(Path index, String tensor, String shard) {
        if (!shard.endsWith(SUFFIX) || shard.contains("/") || shard.contains("\\") || shard.indexOf('\0') >= 0) {
            throw new BadInputException(index + ": tensor " + JsonText.shown(tensor) + " is in " + JsonText.shown(shard)
                    + ", expected the name of a *" + SUFFIX + " file");
        }
        return shard;
    }

    private void readAll() throws IOException {
        List<Path> files;
        try (Stream<Path> entries = Files.list(folder)) {
            files = entries.filter(entry -> entry.getFileName().toString().endsWith(SUFFIX))
                    .sorted()
                    .toList();
        }
        if (files.isEmpty()) {
            throw new BadInputException(folder + ": no *" + SUFFIX + " file, expected a checkpoint directory");
        }
        for (Path file : files) {
            requireAllShards(file);
            addAll(file);
        }
    }

    /** Without an index, a name such as model-00001-of-00003.safetensors tells how many shards there must be. */
    private void requireAllShards(Path file) {
        Matcher shard = SHARD.matcher(file.getFileName().toString());
        if (!shard.matches()) {
            return;
        }
        for (int i = 1; i <= Integer.parseInt(shard.group(3)); i++) {
            String other = String.format("%s-%05d-of-%s%s", shard.group(1), i, shard.group(3), SUFFIX);
            if (!Files.isRegularFile(folder.resolve(other))) {
                throw new BadInputException(folder + ": " + other + " is not there, but " + file.getFileName() + " is");
            }
        }
    }

    private void addAll(Path file) throws IOException {
        for (StoredTensor tensor : SafetensorsFile.tensors(file)) {
            StoredTensor other = tensors.putIfAbsent(tensor.name(), tensor);
            if (other != null) {
                throw tensor.bad("is in " + other.file() + " too");
            }
        }
    }
}
