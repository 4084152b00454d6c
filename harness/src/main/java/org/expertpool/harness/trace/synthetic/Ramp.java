package org.expertpool.harness.trace.synthetic;

import org.expertpool.pool.BadInputException;

/**
 * A quantity that differs between the first layers and the deep ones: {@code deep + (first - deep) * exp(-layer / layers)}.
 *
 * @param first value at layer 0, finite and not negative
 * @param deep value far from layer 0, finite and not negative
 * @param layers number of layers over which the difference falls to 1/e, positive
 */
public record Ramp(double first, double deep, double layers) {
    public Ramp {
        require("first", first, first >= 0 && Double.isFinite(first));
        require("deep", deep, deep >= 0 && Double.isFinite(deep));
        require("layers", layers, layers > 0 && Double.isFinite(layers));
    }

    /** The same value in every layer. */
    public static Ramp flat(double value) {
        return new Ramp(value, value, 1);
    }

    double at(int layer) {
        return deep + (first - deep) * StrictMath.exp(-layer / layers);
    }

    private static void require(String field, double value, boolean good) {
        if (!good) {
            throw new BadInputException(
                    "ramp: " + field + " is " + value + ", expected a finite number, not negative (layers: above 0)");
        }
    }
}
