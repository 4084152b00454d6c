package org.expertpool.harness.trace;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** The forms a trace is read from and written to; {@code notes/trace-format.md} describes each. */
public enum TraceFormat {
    /** The binary form of {@code notes/trace-format.md}. */
    CANONICAL("canonical"),
    /** CSV with the header {@code seq,pos,layer,e0..,w0..}, a line per event. */
    CSV("csv"),
    /** CSV with the header {@code token,layer,e0..}, a line per event. */
    CSV_TOKEN("csv-token"),
    /** CSV with the header {@code token,layer,lane,expert,weight}, a line per lane. */
    CSV_LONG("csv-long"),
    /** JSON lines with {@code layer_idx}, {@code token_idx}, {@code selected_ids}, {@code gate_weights}. */
    JSONL("jsonl"),
    /** One JSON object {@code {"top_k":K,"trace":[[layer,e0,...],...]}}. */
    JSON("json"),
    /** Whole numbers {@code layer e0 .. layer e0 ..}, separated by white space or commas. */
    FLAT("flat");

    private final String label;

    TraceFormat(String label) {
        this.label = label;
    }

    /** The name on the command line. */
    public String label() {
        return label;
    }

    /** The format of that name; BadInputException lists the names. */
    public static TraceFormat of(String label) {
        return Arrays.stream(values())
                .filter(format -> format.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new BadInputException("trace format is '" + label + "', expected one of "
                        + Arrays.stream(values()).map(TraceFormat::label).collect(Collectors.joining(", "))));
    }
}
