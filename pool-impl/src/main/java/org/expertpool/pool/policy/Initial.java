package org.expertpool.pool.policy;

/**
 * The placement before the first event: experts {@code 0..n-1} of each layer (pool-semantics 3), rows without owner, or
 * the most selected experts of a profile.
 */
public enum Initial {
    FIRST_N("first-n"),
    EMPTY("empty"),
    PROFILE("profile");

    private final String label;

    Initial(String label) {
        this.label = label;
    }

    /** The name in result files and options. */
    @Override
    public String toString() {
        return label;
    }
}
