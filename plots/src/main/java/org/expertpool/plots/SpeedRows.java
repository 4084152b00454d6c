package org.expertpool.plots;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The rows decode-speed figures draw: all policies where each ran in one graph mode; otherwise the policy that ran in
 * the most, so that colours can stand for graph modes, and the clairvoyant bound beside it.
 *
 * @param byGraphMode whether colours stand for graph modes; if not, for policies
 * @param notDrawn names of the policies left to other figures
 */
record SpeedRows(List<ResultsRow> rows, boolean byGraphMode, List<String> notDrawn) {
    static Optional<SpeedRows> of(ResultsTable table) {
        List<ResultsRow> timed = table.own().stream()
                .filter(row -> row.number("decode_tok_per_s").isPresent())
                .filter(row -> row.number("rows_per_layer").isPresent())
                .filter(row -> !row.text("policy").isEmpty()) // N of an engine that streams is no policy's curve
                .toList();
        if (timed.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Set<String>> modes = new LinkedHashMap<>();
        for (ResultsRow row : timed) {
            modes.computeIfAbsent(row.text("policy"), any -> new TreeSet<>()).add(row.text("graph_mode"));
        }
        if (modes.values().stream().allMatch(some -> some.size() == 1)) {
            boolean byGraphMode = modes.size() == 1;
            return Optional.of(new SpeedRows(timed, byGraphMode, List.of()));
        }
        String main = modes.entrySet().stream()
                .max(Comparator.comparingInt((Map.Entry<String, Set<String>> entry) ->
                                entry.getValue().size())
                        .thenComparing(entry -> Words.policy(entry.getKey()).equals("LRU")))
                .orElseThrow()
                .getKey();
        List<ResultsRow> drawn = timed.stream()
                .filter(row -> row.text("policy").equals(main) || isBound(row.text("policy")))
                .toList();
        List<String> notDrawn = modes.keySet().stream()
                .filter(policy -> !policy.equals(main) && !isBound(policy))
                .map(Words::policy)
                .collect(Collectors.toList());
        return Optional.of(new SpeedRows(drawn, true, notDrawn));
    }

    /** Whether a policy is a bound that no policy without knowledge of the future can pass: Belady's. */
    static boolean isBound(String policy) {
        return policy.startsWith("bound.") || policy.equals("belady") || policy.equals("belady-forced");
    }

    String colourDimension() {
        return byGraphMode ? "graph_mode" : "policy";
    }

    /** The title of a speed axis, with the context where it is one for all. */
    String title() {
        Collection<String> contexts = Caption.distinct(rows, "context");
        String at = contexts.size() == 1
                ? " at context " + Numbers.grouped(contexts.iterator().next())
                : "";
        return "decode speed (tok/s)" + at;
    }
}
