package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.Control;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.Scope;

/**
 * What a definition can vary, in the order in which a matrix is walked: the first axis changes slowest. Axes from
 * {@link #GRAPH_MODE} on don't change what a trace does to the pool, so cells that differ in them alone share one
 * simulation. Promotion controls are axes too, under keys {@code control.<name>}; they come before ROWS.
 */
enum Axis {
    ENGINE,
    SEED,
    WINDOW,
    POLICY,
    SCOPE,
    STREAMS,
    INPUT_TOKENS,
    CHUNK_TOKENS,
    DECODE_TOKENS,
    PREFILL_PROMOTE,
    ROWS,
    GRAPH_MODE,
    PARTITION,
    REST,
    PLE,
    CONTEXT,
    MEMORY,
    DEVICE;

    static final String CONTROL_PREFIX = "control.";

    /** Engine: the expert pool. */
    static final String POOL = "pool";

    /** Engine: every expert in a row of its own; what the pool's outputs must equal. */
    static final String RESIDENT = "resident";

    /** Engine: the experts of whole layers read from host memory by the kernels, until the memory budget is met. */
    static final String UVA = "uva";

    /** Engine: a cache whose placement the host decides, after reading each layer's routing back. */
    static final String HOST_PLANNED = "host-planned";

    /** Engine: periodic exchange by heat between forwards; what is not resident is read from host memory by the kernels. */
    static final String HEAT = "heat";

    /** Engine: whole layers copied through two buffers, whatever is routed. */
    static final String STREAM = "stream";

    /** As {@link #STREAM}, with the rest of N rows a layer resident, and copied from device memory. */
    static final String STREAM_HITS = "stream-hits";

    static final List<String> ENGINES = List.of(POOL, RESIDENT, UVA, HOST_PLANNED, HEAT, STREAM, STREAM_HITS);

    /** Rest of the model, on a device: nothing beside the routed experts. */
    static final String NO_REST = "none";

    /** As {@link #NO_REST}, and a forward's layers all routed before it: not even what stands in for a router. */
    static final String ROUTED_AHEAD = "routed-ahead";

    /** Rest of the model, on a device: a read of as many bytes as each layer's dense weights have. */
    static final String DENSE = "dense";

    /** Rest of the model, on a device: that read, a read of a KV cache of {@code context} tokens, and the router. */
    static final String FULL = "full";

    /** Embedding rows by token: none. */
    static final String NO_ROWS = "off";

    /** Embedding rows by token: gathered on the host between two forwards. */
    static final String EAGER_ROWS = "eager";

    /** Embedding rows by token: gathered on the host while a forward's first layer runs. */
    static final String DEFERRED_ROWS = "deferred";

    /** Partition path of a pool: rows that are not resident are read through the host's device view. */
    static final String HOST_VIEW = "host-view";

    /** Partition path of a pool: rows that are not resident come through a ring, by the copy engine. */
    static final String STREAMED = "streamed";

    /** Walking order over axis and control keys. */
    static final Comparator<String> WALKING_ORDER =
            Comparator.comparingInt(Axis::position).thenComparing(Comparator.naturalOrder());

    /** The key in definitions and cell ids. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Axis> of(String key) {
        return Arrays.stream(values()).filter(axis -> axis.key().equals(key)).findFirst();
    }

    static boolean changesSimulation(String key) {
        return position(key) < position(GRAPH_MODE.key());
    }

    // Even positions are the axes'; the controls share the odd one before ROWS.
    private static int position(String key) {
        if (key.startsWith(CONTROL_PREFIX)) {
            return position(ROWS.key()) - 1;
        }
        Axis axis = of(key).orElseThrow(() -> new IllegalArgumentException("no axis " + key));
        return 2 * Arrays.asList(values()).indexOf(axis);
    }

    /** One value in its canonical text; {@code field} names the place for the error. */
    String canonical(String field, JsonNode value) {
        return switch (this) {
            case ENGINE -> oneOf(field, text(field, value), ENGINES.toArray(new String[0]));
            case SEED -> whole(field, value, 0, Long.MAX_VALUE);
            case DECODE_TOKENS, ROWS -> whole(field, value, 1, Integer.MAX_VALUE);
            case STREAMS -> whole(field, value, 1, 64);
            case INPUT_TOKENS -> whole(field, value, 1, 1 << 24);
            case CHUNK_TOKENS -> whole(field, value, 1, 65_536);
            case PREFILL_PROMOTE -> whole(field, value, 0, 65_535);
            case PARTITION -> oneOf(field, text(field, value), HOST_VIEW, STREAMED);
            case CONTEXT -> whole(field, value, 1, Long.MAX_VALUE);
            case WINDOW, DEVICE -> text(field, value);
            case POLICY -> policy(field, text(field, value));
            case SCOPE ->
                oneOf(
                        field,
                        text(field, value),
                        Stream.of(Scope.values()).map(Scope::toString).toArray(String[]::new));
            case REST -> oneOf(field, text(field, value), NO_REST, ROUTED_AHEAD, DENSE, FULL);
            case PLE -> oneOf(field, text(field, value), NO_ROWS, EAGER_ROWS, DEFERRED_ROWS);
            case GRAPH_MODE -> GraphMode.of(field, text(field, value)).word();
            case MEMORY -> size(field, text(field, value));
        };
    }

    /** The value of the control that {@code key} names, in its canonical text. */
    static String controlValue(String field, String key, JsonNode value) {
        Control control = Control.named(key.substring(CONTROL_PREFIX.length()));
        return whole(field, value, control.min(), control.max());
    }

    /** Whether a policy decides, and changes, what the engine holds in device memory. */
    static boolean isPlaced(String engine) {
        return List.of(POOL, HOST_PLANNED, HEAT).contains(engine);
    }

    /** Whether an axis or control says something of the engine. */
    static boolean isOf(String engine, String key) {
        if (Stream.of(PREFILL_PROMOTE, PARTITION).map(Axis::key).anyMatch(key::equals)) {
            return engine.equals(POOL);
        }
        if (key.equals(ROWS.key())) {
            return isPlaced(engine) || engine.equals(STREAM_HITS);
        }
        boolean ofPlacement = key.startsWith(CONTROL_PREFIX)
                || Stream.of(POLICY, SCOPE, DECODE_TOKENS).map(Axis::key).anyMatch(key::equals);
        return !ofPlacement || isPlaced(engine);
    }

    private static String policy(String field, String name) {
        try {
            return Policies.named(name).fullName();
        } catch (BadInputException unknown) {
            throw new BadInputException(field + ": " + unknown.getMessage(), unknown);
        }
    }

    private static String whole(String field, JsonNode value, long min, long max) {
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < min || value.asLong() > max) {
            throw new BadInputException(
                    field + " is " + value + ", expected a whole number from " + min + " to " + max);
        }
        return Long.toString(value.asLong());
    }

    private static String text(String field, JsonNode value) {
        if (!value.isTextual() || value.asText().isBlank()) {
            throw new BadInputException(field + " is " + value + ", expected a string that is not empty");
        }
        return value.asText().strip();
    }

    private static String oneOf(String field, String value, String... allowed) {
        if (!Arrays.asList(allowed).contains(value)) {
            throw new BadInputException(field + " is '" + value + "', expected one of " + String.join(", ", allowed));
        }
        return value;
    }

    private static String size(String field, String value) {
        if (ByteSize.parse(field, value) < 1) {
            throw new BadInputException(field + " is " + value + ", expected at least one byte");
        }
        return value;
    }
}
