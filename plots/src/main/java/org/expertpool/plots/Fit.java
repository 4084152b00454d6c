package org.expertpool.plots;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/** What rows say of memory and model size. */
final class Fit {
    private Fit() {}

    /** Which rows' configurations don't fit the memory: those that say so or, capacities being given and a memory being theirs, have none. */
    static Predicate<ResultsRow> unfit(List<ResultsRow> rows) {
        boolean capacities = rows.stream()
                .anyMatch(any -> any.number("context_capacity_tokens").isPresent());
        return row -> row.saysNo("fits")
                || (capacities
                        && !row.text("memory_bytes").isEmpty()
                        && !row.saysYes("fits")
                        && capacity(row).isEmpty());
    }

    /** The context that fits beside N in tokens, none where nothing does. */
    static OptionalDouble capacity(ResultsRow row) {
        OptionalDouble tokens = row.number("context_capacity_tokens");
        return tokens.isPresent() && tokens.getAsDouble() >= 1 && !row.saysNo("fits") ? tokens : OptionalDouble.empty();
    }

    /** The memory budget in words. */
    static String memory(List<ResultsRow> rows) {
        OptionalDouble bytes = only(rows, "memory_bytes");
        return bytes.isPresent() ? Numbers.plain(bytes.getAsDouble() / (1 << 30)) + " GiB" : "the memory";
    }

    /** Experts per layer where all rows agree on it, else 0. */
    static int experts(List<ResultsRow> rows) {
        return (int) only(rows, "experts").orElse(0);
    }

    private static OptionalDouble only(List<ResultsRow> rows, String column) {
        double[] values = rows.stream()
                .flatMapToDouble(row -> row.number(column).stream())
                .distinct()
                .toArray();
        return values.length == 1 ? OptionalDouble.of(values[0]) : OptionalDouble.empty();
    }
}
