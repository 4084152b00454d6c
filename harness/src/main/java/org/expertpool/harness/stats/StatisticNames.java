package org.expertpool.harness.stats;

import java.util.Locale;

/** How numbers appear in statistics' names. */
final class StatisticNames {
    private StatisticNames() {}

    /** A whole number without decimals, another with one. */
    static String rows(double rows) {
        return String.format(Locale.ROOT, rows == Math.rint(rows) ? "%.0f" : "%.1f", rows);
    }
}
