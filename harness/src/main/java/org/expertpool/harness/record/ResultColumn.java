package org.expertpool.harness.record;

/**
 * One column of {@code results.csv}.
 *
 * @param name column header, with its unit where it has one
 * @param kind how the values are compared
 * @param meaning one line for the schema's documentation
 */
public record ResultColumn(String name, Kind kind, String meaning) {
    /** What a column holds, and so how two runs are compared on it. */
    public enum Kind {
        /** Part of the row's identity or a remark; never compared. */
        LABEL,
        /** A count, size, flag or hash: equal or different, no noise. */
        EXACT,
        /** A quantity with noise; more is better. */
        HIGHER_IS_BETTER,
        /** A quantity with noise; less is better. */
        LOWER_IS_BETTER
    }

    public boolean isMetric() {
        return kind != Kind.LABEL;
    }
}
