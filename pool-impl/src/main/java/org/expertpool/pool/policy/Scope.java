package org.expertpool.pool.policy;

/** Which pool rows a miss may take: any row of the bank, or only the rows {@code l*n .. l*n+n-1} of its own layer. */
public enum Scope {
    GLOBAL("global"),
    LAYER("layer");

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
