package org.expertpool.harness.trace;

import java.util.Arrays;

/**
 * The experts of one token in one layer as a text form gives them, before any check. A reader fills one of these again
 * and again.
 */
final class RouteEvent {
    /** Line of the file, from 1. */
    long line;

    long sequence;
    long token;
    long layer;

    /** Lanes in use of {@link #ids} and, where {@link #weighted}, of {@link #weights}. */
    int lanes;

    boolean weighted;
    long[] ids = new long[16];
    float[] weights = new float[16];

    /** Sets the id of a lane; lanes in between keep what they had. */
    void setId(int lane, long id) {
        if (lane >= ids.length) {
            ids = Arrays.copyOf(ids, Math.max(lane + 1, 2 * ids.length));
        }
        ids[lane] = id;
    }

    /** Sets the weight of a lane. */
    void setWeight(int lane, float weight) {
        if (lane >= weights.length) {
            weights = Arrays.copyOf(weights, Math.max(lane + 1, 2 * weights.length));
        }
        weights[lane] = weight;
    }
}
