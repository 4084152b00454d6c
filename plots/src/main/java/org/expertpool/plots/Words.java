package org.expertpool.plots;

import java.util.List;
import java.util.stream.Collectors;

/** How column values read in labels. */
final class Words {
    /** How keys of a cell begin that name a control of the planner. */
    static final String CONTROL = "control.";

    private Words() {}

    /** What a curve is called, by the dimensions that tell it from the others. */
    static String label(Curve curve, List<String> telling) {
        return telling.stream()
                .map(dimension -> value(dimension, curve.value(dimension)))
                .filter(word -> !word.isEmpty())
                .collect(Collectors.joining(", "));
    }

    /** A dimension's value in words, empty where there is none. */
    static String value(String dimension, String value) {
        if (value.isEmpty()) {
            return "";
        }
        return switch (dimension) {
            case "policy" -> policy(value);
            case "graph_mode" -> "graph mode " + value;
            case "scope" -> scope(value);
            case "window", "basis", "device", "model" -> value;
            case "initial" -> value.equals("empty") ? "empty start" : "start " + value;
            case "context" -> "context " + Numbers.grouped(value);
            case "engine", "backend", "trace" -> dimension + " " + value;
            case "rows_per_layer" -> "N = " + value;
            case "input_tokens" -> "input " + Numbers.grouped(value);
            case "chunk_tokens" -> "chunks of " + Numbers.grouped(value);
            case "prefill_promote" -> value.equals("0") ? "nothing kept" : "up to " + value + " kept a layer";
            case "partition" -> value.equals("streamed") ? "missing rows streamed" : "missing rows by host view";
            case "ple" -> value.equals("off") ? "no embedding rows" : "embedding rows " + value;
            case "rest" -> rest(value);
            case CONTROL + "promoteLimit" -> "promoteLimit=" + value + (value.equals("0") ? " (the default)" : "");
            default ->
                dimension.startsWith(CONTROL)
                        ? dimension.substring(CONTROL.length()) + "=" + value
                        : dimension + "=" + value;
        };
    }

    /** What a layer reads beside its routed experts. */
    private static String rest(String value) {
        return switch (value) {
            case "none" -> "experts alone";
            case "routed-ahead" -> "experts alone, routed ahead";
            case "dense" -> "beside dense reads";
            case "full" -> "beside dense, KV and router";
            default -> "rest=" + value;
        };
    }

    /** What a column measures or says, with its unit, as the title of an axis has it. */
    static String column(String column) {
        return switch (column) {
            case "decode_tok_per_s" -> "decode speed (tok/s)";
            case "prefill_tok_per_s" -> "prefill speed (tok/s)";
            case "decode_ms_per_token" -> "time of a token (ms)";
            case "ttft_s" -> "time to first token (s)";
            case "step_p50_us" -> "median time of a layer (us)";
            case "hit_ratio" -> "hit ratio (hits / distinct experts selected)";
            case "h2d_bytes_per_forward" -> "bytes over the link (a forward)";
            case "rows_per_layer" -> "rows per layer, N";
            case "streams" -> "sequences side by side";
            case "input_tokens" -> "input (tokens)";
            case "chunk_tokens" -> "chunk (tokens)";
            default -> column.startsWith(CONTROL) ? column.substring(CONTROL.length()) : column.replace('_', ' ');
        };
    }

    /** A policy's published name where the full name has no parameters that matter. */
    static String policy(String name) {
        return switch (name) {
            case "lru", "evict.lru" -> "LRU";
            case "belady", "bound.belady" -> "Belady (with bypass)";
            case "belady-forced", "bound.belady-forced" -> "Belady (no bypass)";
            case "static", "static.profile" -> "static profile";
            case "static-leaky", "static.profile-leaky" -> "static profile (of the scored part)";
            default -> name;
        };
    }

    private static String scope(String scope) {
        return switch (scope) {
            case "global" -> "global bank";
            case "layer" -> "per layer";
            case "miss-curve" -> "shares by miss curves";
            default -> "scope " + scope;
        };
    }
}
