package org.expertpool.harness.trace;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.expertpool.pool.BadInputException;

/**
 * How to read a trace. Canonical files carry their shape, which must then agree with what is given here.
 *
 * @param layers layers per forward; else the largest layer number + 1, with a notice
 * @param experts experts per layer; else the largest id + 1, with a notice
 * @param topK experts per token, needed only for a flat stream that does not show it
 * @param format the file's form; else recognised from its first bytes
 * @param notices takes each notice, one line
 */
public record TraceOptions(
        OptionalInt layers,
        OptionalInt experts,
        OptionalInt topK,
        Optional<TraceFormat> format,
        Consumer<String> notices) {
    public TraceOptions {
        layers.ifPresent(value -> require("layers", value));
        experts.ifPresent(value -> require("experts", value));
        topK.ifPresent(value -> require("top_k", value));
    }

    /** Everything from the file, notices dropped. */
    public static TraceOptions defaults() {
        return new TraceOptions(
                OptionalInt.empty(), OptionalInt.empty(), OptionalInt.empty(), Optional.empty(), notice -> {});
    }

    /** The same with a receiver of notices. */
    public TraceOptions withNotices(Consumer<String> receiver) {
        return new TraceOptions(layers, experts, topK, format, receiver);
    }

    private static void require(String field, int value) {
        if (value < 1 || value > TraceShape.MAX) {
            throw new BadInputException("trace options: " + field + " is " + value
                    + ", expected a whole number from 1 to " + TraceShape.MAX);
        }
    }
}
