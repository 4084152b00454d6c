package org.expertpool.harness.cost;

/**
 * One number of a device profile and where it comes from.
 *
 * @param value in the unit that the constant's name ends in
 * @param kind how the number was had
 * @param source the measurement, sheet or argument behind it, in words
 */
public record ProfileConstant(double value, Kind kind, String source) {
    /** How a constant was had. */
    public enum Kind {
        MEASURED,
        FITTED,
        DATASHEET,
        ASSUMED
    }

    public ProfileConstant {
        if (!Double.isFinite(value) || value < 0) {
            throw new IllegalArgumentException("value is " + value + ", expected a finite number of at least 0");
        }
        if (source.isBlank()) {
            throw new IllegalArgumentException("source is empty");
        }
    }
}
