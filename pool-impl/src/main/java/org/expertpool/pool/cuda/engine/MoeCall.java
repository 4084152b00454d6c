package org.expertpool.pool.cuda.engine;

/**
 * Device addresses of one layer call. A lane whose id lies outside {@code [0, experts)} is not computed and counts as
 * zero; all other weights must be finite. Activations and output are of the shape's type.
 *
 * @param tokens tokens, T
 * @param activations {@code [T, hidden]}
 * @param ids i32 {@code [T, topK]} expert of each lane
 * @param rows i32 {@code [T, topK]} row of each lane; read by calls of few tokens
 * @param expertRows i32 {@code [experts]} row of each expert; read by calls of many tokens
 * @param weights f32 {@code [T, topK]}
 * @param alphas f32 {@code [experts, 3]} of the layer
 * @param bank the rows
 * @param out {@code [T, hidden]}
 */
public record MoeCall(
        int tokens,
        long activations,
        long ids,
        long rows,
        long expertRows,
        long weights,
        long alphas,
        RowView bank,
        long out) {}
