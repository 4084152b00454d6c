package org.expertpool.harness.run;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.policy.Scope;

/**
 * One point of an experiment.
 *
 * @param id the values of the axes that the definition varies, {@code key=value,...}; stable and unique in it
 * @param settings every setting by axis key, those that don't vary included
 */
record Cell(String id, Map<String, String> settings) {
    private static final int DEFAULT_CHUNK_TOKENS = 512;

    Cell {
        settings = Map.copyOf(settings);
    }

    Optional<String> setting(Axis axis) {
        return Optional.ofNullable(settings.get(axis.key()));
    }

    String engine() {
        return setting(Axis.ENGINE).orElse(Axis.POOL);
    }

    boolean isPool() {
        return engine().equals(Axis.POOL);
    }

    /** Whether a policy decides, and changes, what is resident. */
    boolean isPlaced() {
        return Axis.isPlaced(engine());
    }

    /** N; of a placed engine's cell alone, or nearly, as are policy, scope, planner width and controls. */
    int rows() {
        return Integer.parseInt(settings.get(Axis.ROWS.key()));
    }

    String policy() {
        return settings.get(Axis.POLICY.key());
    }

    String window() {
        return settings.get(Axis.WINDOW.key());
    }

    Scope scope() {
        String name = setting(Axis.SCOPE).orElse("global");
        return Stream.of(Scope.values())
                .filter(scope -> scope.toString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    int decodeTokens() {
        return setting(Axis.DECODE_TOKENS).map(Integer::parseInt).orElse(1);
    }

    /** Sequences that are decoded side by side; absent: the trace as it is. */
    OptionalInt streams() {
        return whole(Axis.STREAMS);
    }

    /** Tokens of the prompt that the trace starts with; absent: the trace as it is. */
    OptionalInt inputTokens() {
        return whole(Axis.INPUT_TOKENS);
    }

    /** Tokens of its prefill chunks. */
    int chunkTokens() {
        return whole(Axis.CHUNK_TOKENS).orElse(DEFAULT_CHUNK_TOKENS);
    }

    /** Most experts of a layer that stay in the pool after a call on the partition path. */
    int prefillPromote() {
        return whole(Axis.PREFILL_PROMOTE).orElse(0);
    }

    /** How calls on the partition path read what is not resident: {@link Axis#HOST_VIEW} or {@link Axis#STREAMED}. */
    String partition() {
        return setting(Axis.PARTITION).orElse(Axis.HOST_VIEW);
    }

    private OptionalInt whole(Axis axis) {
        return setting(axis).stream().mapToInt(Integer::parseInt).findFirst();
    }

    OptionalLong seed() {
        return setting(Axis.SEED).stream().mapToLong(Long::parseLong).findFirst();
    }

    Optional<GraphMode> graphMode() {
        return setting(Axis.GRAPH_MODE).map(word -> GraphMode.of("graph_mode", word));
    }

    /** What beside the routed experts runs on a device: a word of {@link Axis#REST}. */
    String rest() {
        return setting(Axis.REST).orElse(Axis.NO_REST);
    }

    /** How embedding rows by token come to a device: {@link Axis#NO_ROWS} or another. */
    String ple() {
        return setting(Axis.PLE).orElse(Axis.NO_ROWS);
    }

    OptionalLong contextTokens() {
        return setting(Axis.CONTEXT).stream().mapToLong(Long::parseLong).findFirst();
    }

    OptionalLong memoryBytes() {
        return setting(Axis.MEMORY).stream()
                .mapToLong(size -> ByteSize.parse("memory", size))
                .findFirst();
    }

    Optional<String> device() {
        return setting(Axis.DEVICE);
    }

    /** Promotion controls that the definition sets, by name. */
    SortedMap<String, Integer> controls() {
        SortedMap<String, Integer> controls = new TreeMap<>();
        settings.forEach((key, value) -> {
            if (key.startsWith(Axis.CONTROL_PREFIX)) {
                controls.put(key.substring(Axis.CONTROL_PREFIX.length()), Integer.valueOf(value));
            }
        });
        return controls;
    }

    /** The settings that decide what the trace does to the pool: cells with the same ones share a simulation. */
    SortedMap<String, String> simulationKey() {
        SortedMap<String, String> key = new TreeMap<>(settings);
        key.keySet().removeIf(name -> !Axis.changesSimulation(name));
        return key;
    }
}
