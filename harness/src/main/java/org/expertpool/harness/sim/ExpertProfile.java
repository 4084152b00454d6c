package org.expertpool.harness.sim;

import org.expertpool.pool.BadInputException;

/**
 * Selection counts by expert, from which a static placement is frozen.
 *
 * @param layers MoE layers
 * @param experts experts per layer
 * @param counts steps that selected the expert, {@code [layers * experts]} by key; not copied
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once and only read
public record ExpertProfile(int layers, int experts, long[] counts) {
    public ExpertProfile {
        if (counts.length != Math.multiplyExact(layers, experts)) {
            throw new BadInputException(
                    "profile: " + counts.length + " counts, expected " + layers + " layers x " + experts + " experts");
        }
    }
}
