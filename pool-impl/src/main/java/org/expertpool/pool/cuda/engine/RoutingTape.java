package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;

/**
 * Recorded routing of forwards of one width.
 *
 * @param ids i32 {@code [forwards, layers, lanes]}, raw
 * @param weights f32 {@code [forwards, layers, lanes]}
 */
@SuppressWarnings("ArrayRecordComponent") // large, made once, not compared
public record RoutingTape(int forwards, int layers, int lanes, int[] ids, float[] weights) {
    public RoutingTape {
        long values = (long) forwards * layers * lanes;
        if (forwards < 1 || ids.length != values || weights.length != values) {
            throw new BadInputException("routing tape: " + ids.length + " ids and " + weights.length
                    + " weights, expected " + values + " each: " + forwards + " forwards, at least 1, of " + layers
                    + " layers and " + lanes + " lanes");
        }
    }

    /** Where a layer call's lanes begin. */
    public int at(int forward, int layer) {
        return (forward * layers + layer) * lanes;
    }
}
