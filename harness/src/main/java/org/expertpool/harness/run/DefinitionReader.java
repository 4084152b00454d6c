package org.expertpool.harness.run;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelPresets;
import org.expertpool.pool.policy.Initial;

/** Reads and checks a definition. Every unknown key or bad value is one error that names the file and the key. */
final class DefinitionReader {
    private static final List<String> KEYS = List.of(
            "name",
            "question",
            "expectation",
            "engine",
            "model",
            "activations",
            "reported",
            "ballast",
            "beyond_memory",
            "ballast_growth",
            "trace",
            "window",
            "axes",
            "matrix",
            "protocol",
            "check",
            "details",
            "marks");
    private static final List<String> CONTROLS =
            List.of("promoteLimit", "promoteInterval", "promoteMinMisses", "protectRecent");
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]*");
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

    private final String file;
    private final TomlTable root;
    private final String text;

    private DefinitionReader(String file, ObjectNode root, String text) {
        this.file = file;
        this.root = new TomlTable(file, "", root);
        this.text = text;
    }

    /** The definition in {@code path}, with {@code --set} overrides applied first. */
    static Definition read(Path path, List<String> overrides) throws IOException {
        String file = path.toString();
        String text;
        try {
            text = Files.readString(path);
        } catch (NoSuchFileException missing) {
            throw new BadInputException(file + ": no such file, expected a definition", missing);
        } catch (CharacterCodingException malformed) {
            throw new BadInputException(file + ": not UTF-8 text, expected a definition", malformed);
        } catch (IOException unreadable) {
            throw PathProblem.unreadable(file, unreadable);
        }
        TomlMapper toml = new TomlMapper();
        JsonNode tree;
        try {
            tree = toml.readTree(text);
        } catch (JsonProcessingException notToml) {
            JsonLocation at = notToml.getLocation();
            throw new BadInputException(
                    file + (at == null ? "" : " line " + at.getLineNr()) + ": not TOML: "
                            + notToml.getOriginalMessage(),
                    notToml);
        }
        ObjectNode root = (ObjectNode) tree;
        if (!overrides.isEmpty()) {
            Overrides.apply(root, overrides);
            text = "# Resolved with --set " + String.join(" --set ", overrides) + "\n" + toml.writeValueAsString(root);
        }
        return new DefinitionReader(file, root, text).definition();
    }

    private Definition definition() {
        root.allow(KEYS);
        String name = root.text("name");
        if (!NAME.matcher(name).matches()) {
            throw root.bad("name", "lower-case letters, digits, dots and hyphens");
        }
        String model = root.text("model");
        if (!ModelWeights.isFolder(model)) { // a folder is looked for when cells are to run
            ModelPresets.load(model);
        }
        TraceSpec trace = trace(root.table("trace"));
        Map<String, Window> windows = windows(root.table("window"));
        List<Matrix> matrices = matrices(trace, windows);
        TomlTable protocol = root.table("protocol");
        protocol.allow(List.of("repetitions", "fresh_processes"));
        int repetitions = protocol.has("repetitions") ? (int) protocol.integer("repetitions", 1, 1_000) : 1;
        if (protocol.has("fresh_processes") && !protocol.get("fresh_processes").isBoolean()) {
            throw protocol.bad("fresh_processes", "true or false");
        }
        TomlTable marks = root.table("marks");
        marks.allow(List.of("rows"));
        return new Definition(
                name,
                root.text("question"),
                root.text("expectation"),
                model,
                ActivationType.of(
                        file + ": activations", root.optionalText("activations").orElse("bf16")),
                trace,
                windows,
                Matrix.cells(file, matrices),
                repetitions,
                protocol.get("fresh_processes").asBoolean(),
                memory(),
                root.tables("check").stream().map(CheckReader::read).toList(),
                details(root),
                root.texts("reported"),
                rows(marks),
                text);
    }

    private DeviceLimit.Rule memory() {
        JsonNode ballast = root.get("ballast");
        if (root.has("ballast") && !ballast.isBoolean()) {
            throw root.bad("ballast", "true or false");
        }
        String beyond = root.optionalText("beyond_memory").orElse("refuse");
        if (!List.of("refuse", "lift").contains(beyond)) {
            throw root.bad("beyond_memory", "refuse or lift");
        }
        if (beyond.equals("lift") && !ballast.asBoolean()) {
            throw root.bad("beyond_memory", "no such key without ballast = true");
        }
        long growth = root.optionalText("ballast_growth")
                .map(size -> ByteSize.parse(file + ": ballast_growth", size))
                .orElse(0L);
        return new DeviceLimit.Rule(ballast.asBoolean(), beyond.equals("lift"), growth);
    }

    private static Optional<Details> details(TomlTable root) {
        if (!root.has("details")) {
            return Optional.empty();
        }
        TomlTable table = root.table("details");
        table.allow(List.of("where", "stretch_forwards"));
        int stretch = table.has("stretch_forwards")
                ? (int) table.integer("stretch_forwards", 1, Integer.MAX_VALUE)
                : Details.STRETCH_FORWARDS;
        return Optional.of(new Details(CheckReader.selection(table, "where"), stretch));
    }

    private String engine() {
        String engine = root.optionalText("engine").orElse(Axis.POOL);
        if (!Axis.ENGINES.contains(engine)) {
            throw root.bad("engine", String.join(", ", Axis.ENGINES));
        }
        return engine;
    }

    private static TraceSpec trace(TomlTable table) {
        if (!table.has("streams")) {
            return single(table);
        }
        return new TraceSpec.Merged(
                single(table),
                (int) table.integer("streams", 1, 64),
                table.has("shuffle_seed") ? table.integer("shuffle_seed", 0, Long.MAX_VALUE) : 1);
    }

    private static TraceSpec single(TomlTable table) {
        if (table.has("file")) {
            table.allow(List.of("file", "sha256", "streams", "shuffle_seed"));
            if (!SHA256.matcher(table.text("sha256")).matches()) {
                throw table.bad("sha256", "64 lower-case hex digits");
            }
            return new TraceSpec.File(table.text("file"), table.text("sha256"));
        }
        table.allow(List.of("preset", "forwards", "prefill_tokens", "file", "sha256", "streams", "shuffle_seed"));
        if (!SyntheticTraces.names().contains(table.text("preset"))) {
            throw table.bad("preset", "one of " + String.join(", ", SyntheticTraces.names()));
        }
        int prefillTokens = table.has("prefill_tokens") ? (int) table.integer("prefill_tokens", 1, 65_536) : 1;
        return new TraceSpec.Preset(
                table.text("preset"), table.integer("forwards", 1, Integer.MAX_VALUE), prefillTokens);
    }

    private static Map<String, Window> windows(TomlTable table) {
        table.allow(List.of("warm", "cold", "unseen"));
        Map<String, Window> windows = new LinkedHashMap<>();
        for (String name : table.keys()) {
            windows.put(name, window(name, table.table(name)));
        }
        windows.putIfAbsent("cold", new Window("cold", Initial.EMPTY, ScoreWindow.all(), false));
        return windows;
    }

    private static Window window(String name, TomlTable table) {
        table.allow(List.of("initial", "score_from", "score_to", "reset"));
        Initial initial = Stream.of(Initial.values())
                .filter(value -> value.toString().equals(table.text("initial")))
                .findFirst()
                .orElseThrow(() -> table.bad("initial", "first-n or empty"));
        ScoreWindow from = bound(table, "score_from", 0);
        ScoreWindow to = bound(table, "score_to", Long.MAX_VALUE);
        ScoreWindow.Unit unit = table.has("score_from") ? from.unit() : to.unit();
        if (table.has("score_to") && to.unit() != unit) {
            throw table.bad("score_to", "the same unit as score_from");
        }
        if (from.from() >= to.from()) {
            throw table.bad("score_to", "more than score_from");
        }
        if (table.has("reset") && !table.text("reset").equals("sequence")) {
            throw table.bad("reset", "sequence, or no such key");
        }
        return new Window(name, initial, new ScoreWindow(unit, from.from(), to.from()), table.has("reset"));
    }

    // A bound travels as the start of a window that never ends.
    private static ScoreWindow bound(TomlTable table, String key, long missing) {
        JsonNode value = table.get(key);
        if (value.isTextual()) {
            try {
                return ScoreWindow.parse(value.asText());
            } catch (BadInputException malformed) {
                throw table.bad(key, "a forward number, 'forward=k' or 'sequence=k'");
            }
        }
        return ScoreWindow.forwards(table.has(key) ? table.integer(key, 0, Long.MAX_VALUE) : missing, Long.MAX_VALUE);
    }

    private List<Matrix> matrices(TraceSpec trace, Map<String, Window> windows) {
        TomlTable axes = root.table("axes");
        List<Matrix> matrices = new ArrayList<>();
        for (TomlTable table : root.has("matrix") ? root.tables("matrix") : List.of(root.table("matrix"))) {
            Map<String, List<String>> values = new LinkedHashMap<>();
            Set<String> lists = new LinkedHashSet<>();
            read("axes", axes, values, lists);
            read("matrix", table, values, lists);
            values.putIfAbsent(Axis.ENGINE.key(), List.of(engine()));
            checkEngine(values);
            values.putIfAbsent(Axis.WINDOW.key(), List.of("cold"));
            if (trace.isGenerated()) {
                values.putIfAbsent(Axis.SEED.key(), List.of("1"));
            }
            check(values, trace, windows);
            matrices.add(new Matrix(values, lists));
        }
        return matrices;
    }

    private void read(String place, TomlTable table, Map<String, List<String>> values, Set<String> lists) {
        for (String key : table.keys()) {
            if (key.equals("control")) {
                TomlTable controls = table.table(key);
                controls.allow(CONTROLS);
                controls.keys()
                        .forEach(name -> put(place, Axis.CONTROL_PREFIX + name, controls.get(name), values, lists));
            } else if (Axis.of(key).isPresent()) {
                put(place, key, table.get(key), values, lists);
            } else {
                throw new BadInputException(
                        file + ": unknown key '" + place + "." + key + "', expected control or one of "
                                + Stream.of(Axis.values()).map(Axis::key).toList());
            }
        }
    }

    private void put(String place, String key, JsonNode value, Map<String, List<String>> values, Set<String> lists) {
        String field = file + ": " + place + "." + key;
        List<String> canonical = new ArrayList<>();
        for (JsonNode item : value.isArray() ? value : List.of(value)) {
            String text = Axis.of(key)
                    .map(axis -> axis.canonical(field, item))
                    .orElseGet(() -> Axis.controlValue(field, key, item));
            if (canonical.contains(text)) {
                throw new BadInputException(field + " has " + text + " twice");
            }
            canonical.add(text);
        }
        if (canonical.isEmpty()) {
            throw new BadInputException(field + " is an empty list, expected at least one value");
        }
        values.put(key, canonical);
        lists.remove(key);
        if (value.isArray()) {
            lists.add(key);
        }
    }

    private void checkEngine(Map<String, List<String>> values) {
        List<String> engines = values.get(Axis.ENGINE.key());
        if (engines.size() > 1) {
            throw new BadInputException(
                    file + ": axes.engine is " + engines + ", expected one engine in each [[matrix]]");
        }
        String engine = engines.get(0);
        for (Axis required : List.of(Axis.ROWS, Axis.POLICY)) {
            boolean needed = Axis.isPlaced(engine) || (required == Axis.ROWS && Axis.isOf(engine, Axis.ROWS.key()));
            if (needed && !values.containsKey(required.key())) {
                throw new BadInputException(file + ": axes." + required.key() + " is missing");
            }
        }
        values.keySet().stream()
                .filter(key -> !Axis.isOf(engine, key))
                .findFirst()
                .ifPresent(key -> {
                    throw new BadInputException(
                            file + ": axes." + key + " is set, expected no axis of the pool beside engine " + engine);
                });
        if (Axis.isPlaced(engine)) {
            values.putIfAbsent(Axis.SCOPE.key(), List.of("global"));
        }
    }

    private void check(Map<String, List<String>> values, TraceSpec trace, Map<String, Window> windows) {
        for (String window : values.get(Axis.WINDOW.key())) {
            if (!windows.containsKey(window)) {
                throw new BadInputException(file + ": axes.window names '" + window + "', expected one of "
                        + String.join(", ", windows.keySet()) + " with a table [window." + window + "]");
            }
        }
        if (!trace.isGenerated() && values.containsKey(Axis.SEED.key())) {
            throw new BadInputException(file + ": axes.seed is set, expected none beside trace.file");
        }
        checkTraceAxes(values, trace);
        if (values.getOrDefault(Axis.PREFILL_PROMOTE.key(), List.of("0")).stream()
                        .anyMatch(rows -> !rows.equals("0"))
                && !values.getOrDefault(Axis.PARTITION.key(), List.of()).equals(List.of(Axis.STREAMED))) {
            throw new BadInputException(file + ": axes.prefill_promote is set, expected axes.partition = \"streamed\""
                    + " beside it: what the host view reads is not copied anywhere");
        }
        values.getOrDefault(Axis.DEVICE.key(), List.of()).forEach(DeviceProfile::load);
        // Graph modes and memory limits are a real device's too, which no axis names.
        boolean cache = values.getOrDefault(Axis.REST.key(), List.of()).equals(List.of(Axis.FULL));
        if (values.containsKey(Axis.CONTEXT.key()) && !values.containsKey(Axis.DEVICE.key()) && !cache) {
            throw new BadInputException(
                    file + ": axes.context is set, expected axes.device or axes.rest = \"full\" beside it");
        }
    }

    /** Axes that shape the trace: of a generated one that nothing else shapes. */
    private void checkTraceAxes(Map<String, List<String>> values, TraceSpec trace) {
        boolean plain = trace instanceof TraceSpec.Preset preset && preset.prefillTokens() == 1;
        for (Axis axis : List.of(Axis.STREAMS, Axis.INPUT_TOKENS, Axis.CHUNK_TOKENS)) {
            if (values.containsKey(axis.key()) && !plain) {
                throw new BadInputException(file + ": axes." + axis.key()
                        + " is set, expected trace.preset without prefill_tokens and streams beside it");
            }
        }
        if (values.containsKey(Axis.STREAMS.key()) && values.containsKey(Axis.INPUT_TOKENS.key())) {
            throw new BadInputException(file + ": axes.input_tokens is set, expected no axes.streams beside it");
        }
        if (values.containsKey(Axis.CHUNK_TOKENS.key()) && !values.containsKey(Axis.INPUT_TOKENS.key())) {
            throw new BadInputException(file + ": axes.chunk_tokens is set, expected axes.input_tokens beside it");
        }
    }

    private static List<Integer> rows(TomlTable marks) {
        List<Integer> rows = new ArrayList<>();
        for (JsonNode value : marks.get("rows")) {
            if (!value.canConvertToInt() || !value.isIntegralNumber() || value.asInt() < 1) {
                throw marks.bad("rows", "a list of whole numbers of at least 1");
            }
            rows.add(value.asInt());
        }
        return rows;
    }
}
