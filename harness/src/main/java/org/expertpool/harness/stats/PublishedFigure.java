package org.expertpool.harness.stats;

/**
 * What somebody else measured.
 *
 * @param statistic name of the {@link Statistic} it is compared with
 * @param low published value, or the lower end of a published range
 * @param high the same value, or the upper end
 * @param source where it was published
 */
public record PublishedFigure(String statistic, double low, double high, String source) {
    static PublishedFigure of(String statistic, double value, String source) {
        return new PublishedFigure(statistic, value, value, source);
    }

    /** Measured less published; 0 inside a published range, else the distance to its nearer end. */
    public double deviation(double measured) {
        if (measured < low) {
            return measured - low;
        }
        return measured > high ? measured - high : 0;
    }
}
