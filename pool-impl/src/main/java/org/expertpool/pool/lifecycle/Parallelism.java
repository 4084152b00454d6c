package org.expertpool.pool.lifecycle;

/**
 * Ranks over which a deployment spreads a model; a pool serves one.
 *
 * @param expert expert-parallel ranks
 * @param data data-parallel ranks
 * @param sequence sequence-parallel ranks
 */
public record Parallelism(int expert, int data, int sequence) {
    public static final Parallelism NONE = new Parallelism(1, 1, 1);
}
