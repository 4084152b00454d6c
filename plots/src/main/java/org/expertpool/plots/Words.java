package org.expertpool.plots;

import java.util.List;
import java.util.stream.Collectors;

/** How column values read in labels. */
final class Words {
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
            default -> dimension + "=" + value;
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
