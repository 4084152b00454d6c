package org.expertpool.pool.cuda.engine;

/**
 * Device addresses of one layer call. A lane whose id lies outside {@code [0, experts)} is not computed and counts as
 * zero; all other weights must be finite. Activations and output are of the shape's type.
 *
 * @param tokens tokens, T
 * @param activations {@code [T, hidden]}
 * @param ids i32 {@code [T, topK]} expert of each lane
 * @param rows i32 {@code [T, topK]} row of each lane; read by calls of few tokens
 * @param missRows i32 {@code [T, topK]}, not -1 where the lane's row is still on the host; 0: no lane's is
 * @param expertRows i32 {@code [experts]} row of each expert; read by calls of many tokens
 * @param weights f32 {@code [T, topK]}
 * @param alphas f32 {@code [experts, 3]} of the layer
 * @param bank the rows; where it is the host's own memory, expert e's is row e
 * @param host the layer's rows on the host; null where none is missed
 * @param out {@code [T, hidden]}
 */
public record MoeCall(
        int tokens,
        long activations,
        long ids,
        long rows,
        long missRows,
        long expertRows,
        long weights,
        long alphas,
        RowView bank,
        RowView host,
        long out) {
    /** A call whose rows are all in the bank. */
    public MoeCall(
            int tokens,
            long activations,
            long ids,
            long rows,
            long expertRows,
            long weights,
            long alphas,
            RowView bank,
            long out) {
        this(tokens, activations, ids, rows, 0, expertRows, weights, alphas, bank, null, out);
    }

    /** The same call, which reads rows of missed lanes on the host and keeps them in the bank; of few tokens. */
    MoeCall withMissed(long missed, RowView rowsOnHost) {
        return new MoeCall(tokens, activations, ids, rows, missed, expertRows, weights, alphas, bank, rowsOnHost, out);
    }
}
