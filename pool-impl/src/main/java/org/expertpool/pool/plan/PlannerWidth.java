package org.expertpool.pool.plan;

import org.expertpool.pool.BadInputException;

/**
 * How many lanes one step can plan (pool-semantics 1).
 *
 * @param decodeTokens tokens of the widest forward that is planned; wider ones take the partition path
 * @param lanes S, {@code topK * decodeTokens}: most lanes of a step, and the number of staging rows
 * @param width the power of two at or above {@code lanes}
 */
public record PlannerWidth(int decodeTokens, int lanes, int width) {
    /** Lanes that a step is meant to hold; a topK above it still gets one token. */
    private static final int LANE_TARGET = 64;

    private static final int MAX_LANES = 1 << 30;

    /** The width for {@code topK} experts per token and forwards of at most {@code maxDecodeTokens} tokens. */
    public static PlannerWidth of(int topK, int maxDecodeTokens) {
        if (topK < 1 || topK > MAX_LANES) {
            throw new BadInputException("topK is " + topK + ", expected a whole number from 1 to " + MAX_LANES);
        }
        int decodeTokens = Math.max(1, Math.min(maxDecodeTokens, LANE_TARGET / topK));
        int lanes = topK * decodeTokens;
        return new PlannerWidth(decodeTokens, lanes, powerOfTwoAtLeast(lanes));
    }

    private static int powerOfTwoAtLeast(int value) {
        int floor = Integer.highestOneBit(value);
        return floor == value ? value : floor << 1;
    }
}
