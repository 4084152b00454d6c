package org.expertpool.harness.sim;

import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What is known of a result beside its counts; empty where nobody asked.
 *
 * @param gap parts of its misses
 * @param h2dBytesPerToken bytes of missed rows
 * @param modelledMsPerToken time by the cost model
 */
public record Valuation(Optional<Gap> gap, OptionalDouble h2dBytesPerToken, OptionalDouble modelledMsPerToken) {
    /** Nothing. */
    public static final Valuation NONE =
            new Valuation(Optional.empty(), OptionalDouble.empty(), OptionalDouble.empty());
}
