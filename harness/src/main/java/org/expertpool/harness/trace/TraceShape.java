package org.expertpool.harness.trace;

import org.expertpool.pool.BadInputException;

/**
 * The shape of a routing trace.
 *
 * @param layers MoE layers per forward, 1 to 65,535
 * @param experts experts per layer, 1 to 65,535; ids are in {@code [0, experts)}
 * @param topK experts per token, 1 to {@code experts}
 * @param weighted whether each lane carries a router weight
 */
public record TraceShape(int layers, int experts, int topK, boolean weighted) {
    static final int MAX = 65_535;

    public TraceShape {
        require("layers", layers, MAX);
        require("experts", experts, MAX);
        require("topK", topK, experts);
    }

    private static void require(String field, int value, int max) {
        if (value < 1 || value > max) {
            throw new BadInputException(
                    "trace shape: " + field + " is " + value + ", expected a whole number from 1 to " + max);
        }
    }
}
