package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;

/**
 * What each layer of a forward does beside its experts, by stand-ins that really read device memory.
 *
 * @param denseBytes read in the place of dense weights, a multiple of 16; 0: none
 * @param kvBytesPerToken read for each token of context, a multiple of 16; 0: none
 * @param mostContextTokens that the KV cache has room for; 0 without one
 * @param router whether a router's GEMM and choice run; the tape routes all the same
 */
public record LayerRest(long denseBytes, long kvBytesPerToken, long mostContextTokens, boolean router) {
    public static final LayerRest NOTHING = dense(0);

    public LayerRest {
        if (denseBytes < 0 || kvBytesPerToken < 0 || mostContextTokens < 0) {
            throw new BadInputException("stand-ins: " + denseBytes + " dense bytes, " + kvBytesPerToken
                    + " bytes a token of context, " + mostContextTokens + " tokens, expected at least 0 each");
        }
    }

    /** A read of dense weights alone. */
    public static LayerRest dense(long bytes) {
        return new LayerRest(bytes, 0, 0, false);
    }

    public boolean isNothing() {
        return equals(NOTHING);
    }

    /** Whether a forward's time depends on the length of its context. */
    public boolean readsContext() {
        return kvBytesPerToken > 0 && mostContextTokens > 0;
    }
}
