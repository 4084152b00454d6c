package org.expertpool.harness.cost;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** How much of a decode forward is replayed from CUDA graphs (the word in files is the lower-case form with hyphens). */
public enum GraphMode {
    /** Each kernel is launched by the host. */
    NONE,
    /** A graph per layer segment around the MoE op, which itself is launched kernel by kernel. */
    PIECEWISE,
    /** One graph per decode forward; prefill eager. */
    FULL_DECODE,
    /** As {@link #FULL_DECODE}, with prefill chunks captured too; the same decode. */
    FULL;

    /** The name in definitions and result files, such as {@code full-decode}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The mode called {@code word}; {@code field} names the place for the error. */
    public static GraphMode of(String field, String word) {
        return Arrays.stream(values())
                .filter(mode -> mode.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new BadInputException(field + ": unknown graph mode '" + word + "', expected one of "
                        + Arrays.stream(values()).map(GraphMode::word).collect(Collectors.joining(", "))));
    }
}
