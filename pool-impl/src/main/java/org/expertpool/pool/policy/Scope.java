package org.expertpool.pool.policy;

/**
 * Which pool rows a miss may take: any row of the bank; only the {@code n} rows of its own layer; or only its own
 * layer's share of the {@code L*n} rows, where shares differ as the layers' miss curves ask for.
 */
public enum Scope {
    GLOBAL("global"),
    LAYER("layer"),
    MISS_CURVE("miss-curve");

    private final String label;

    Scope(String label) {
        this.label = label;
    }

    /** The name in result files and options. */
    @Override
    public String toString() {
        return label;
    }
}
