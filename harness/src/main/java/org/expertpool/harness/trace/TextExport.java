package org.expertpool.harness.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;

/** Writes a trace in one of the text forms, and says what the form cannot hold. */
final class TextExport {
    private final RoutingTrace trace;
    private final TraceFormat format;
    private final TraceOutline outline;
    private final Writer out;
    private final int topK;
    private long sequence = -1;
    private long token = -1;
    private int largestExpert = -1;
    private long firstToken = -1;

    private TextExport(RoutingTrace trace, TraceFormat format, TraceOutline outline, Writer out) {
        this.trace = trace;
        this.format = format;
        this.outline = outline;
        this.out = out;
        this.topK = trace.shape().topK();
    }

    /**
     * Writes the whole trace.
     *
     * @return what was lost, a phrase each; empty where reading the output back gives the same trace
     */
    static List<String> write(RoutingTrace trace, TraceFormat format, Writer out) throws IOException {
        TraceOutline outline = TraceOutline.of(trace);
        if (outline.overlaps() > 0 && holdsTokens(format)) {
            throw new BadInputException("convert: " + outline.overlaps()
                    + " forwards verify tokens again; " + format.label() + " has one event per token and layer,"
                    + " expected the format canonical");
        }
        TextExport export = new TextExport(trace, format, outline, out);
        try {
            out.write(export.opening());
            Traces.copy(trace, export::forward);
            out.write(format == TraceFormat.JSON ? "\n]}\n" : "");
        } catch (UncheckedIOException failure) {
            throw failure.getCause();
        }
        return export.losses();
    }

    /** Whether the form numbers tokens within their sequence. */
    private static boolean holdsTokens(TraceFormat format) {
        return format == TraceFormat.CSV || format == TraceFormat.JSONL;
    }

    private static boolean holdsWeights(TraceFormat format) {
        return holdsTokens(format) || format == TraceFormat.CSV_LONG;
    }

    private String opening() {
        return switch (format) {
            case CSV -> "seq,pos,layer" + columns("e") + (trace.shape().weighted() ? columns("w") : "") + "\n";
            case CSV_TOKEN -> "token,layer" + columns("e") + "\n";
            case CSV_LONG -> "token,layer,lane,expert" + (trace.shape().weighted() ? ",weight" : "") + "\n";
            case JSON -> "{\"top_k\":" + topK + ",\"trace\":[";
            case JSONL, FLAT -> "";
            case CANONICAL -> throw new IllegalArgumentException("canonical is no text form");
        };
    }

    private String columns(String prefix) {
        StringBuilder names = new StringBuilder();
        for (int lane = 0; lane < topK; lane++) {
            names.append(',').append(prefix).append(lane);
        }
        return names.toString();
    }

    private void forward(ForwardHeader header, int[] ids, float[] weights) {
        sequence += header.startsSequence() ? 1 : 0;
        StringBuilder text = new StringBuilder();
        for (int t = 0; t < header.tokens(); t++) {
            // Without a column for the sequence, tokens of several sequences count on.
            boolean within = holdsTokens(format) || (outline.sequences() == 1 && outline.overlaps() == 0);
            token = within ? header.position() + (long) t : token + 1;
            firstToken = firstToken < 0 ? token : firstToken;
            for (int layer = 0; layer < trace.shape().layers(); layer++) {
                event(text, layer, ids, weights, (layer * header.tokens() + t) * topK);
            }
        }
        try {
            out.append(text);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void event(StringBuilder text, int layer, int[] ids, float[] weights, int from) {
        for (int lane = from; lane < from + topK; lane++) {
            largestExpert = Math.max(largestExpert, ids[lane]);
        }
        switch (format) {
            case CSV -> {
                text.append(sequence).append(',').append(token).append(',').append(layer);
                appendIds(text.append(','), ids, from, ",");
                appendWeights(text, weights, from, ",", ",");
                text.append('\n');
            }
            case CSV_TOKEN -> {
                text.append(token).append(',').append(layer).append(',');
                appendIds(text, ids, from, ",");
                text.append('\n');
            }
            case CSV_LONG -> appendLanes(text, layer, ids, weights, from);
            case JSONL -> {
                text.append(outline.sequences() > 1 ? "{\"seq_idx\":" + sequence + "," : "{");
                text.append("\"layer_idx\":")
                        .append(layer)
                        .append(",\"token_idx\":")
                        .append(token);
                appendIds(text.append(",\"selected_ids\":["), ids, from, ",");
                appendWeights(text.append(']'), weights, from, ",\"gate_weights\":[", ",");
                text.append(weights == null ? "}\n" : "]}\n");
            }
            case JSON -> {
                text.append(token == firstToken && layer == 0 ? "\n[" : ",\n[")
                        .append(layer)
                        .append(',');
                appendIds(text, ids, from, ",");
                text.append(']');
            }
            case FLAT -> {
                appendIds(text.append(layer).append(' '), ids, from, " ");
                text.append('\n');
            }
            case CANONICAL -> throw new IllegalArgumentException("canonical is no text form");
        }
    }

    private void appendIds(StringBuilder text, int[] ids, int from, String separator) {
        for (int lane = 0; lane < topK; lane++) {
            text.append(lane == 0 ? "" : separator).append(ids[from + lane]);
        }
    }

    private void appendWeights(StringBuilder text, float[] weights, int from, String before, String separator) {
        for (int lane = 0; weights != null && lane < topK; lane++) {
            text.append(lane == 0 ? before : separator).append(weights[from + lane]);
        }
    }

    private void appendLanes(StringBuilder text, int layer, int[] ids, float[] weights, int from) {
        for (int lane = 0; lane < topK; lane++) {
            text.append(token)
                    .append(',')
                    .append(layer)
                    .append(',')
                    .append(lane)
                    .append(',');
            text.append(ids[from + lane]);
            if (weights != null) {
                text.append(',').append(weights[from + lane]);
            }
            text.append('\n');
        }
    }

    private List<String> losses() {
        List<String> lost = new ArrayList<>();
        if (outline.sequences() > 1 && !holdsTokens(format)) {
            lost.add("the boundaries of " + outline.sequences() + " sequences and positions within them");
        }
        if (outline.sequences() == 1 && firstToken > 0 && (format == TraceFormat.JSON || format == TraceFormat.FLAT)) {
            lost.add("that the sequence starts at position " + firstToken);
        }
        if (trace.shape().weighted() && !holdsWeights(format)) {
            lost.add("router weights");
        }
        if (outline.prefillForwards() > 0) {
            lost.add("that " + outline.prefillForwards() + " forwards are prefill chunks");
        }
        if (outline.wideForwards() > 0) {
            lost.add("the grouping of tokens into " + outline.wideForwards() + " wider forwards");
        }
        if (largestExpert + 1 < trace.shape().experts()) {
            lost.add("that there are " + trace.shape().experts() + " experts (read back with --experts "
                    + trace.shape().experts() + ")");
        }
        return lost;
    }
}
