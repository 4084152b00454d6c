package org.expertpool.harness.stats;

/**
 * One named number about a trace.
 *
 * @param name what it is, with unit and parameters, such as {@code lru_hit_ratio_cold_31_rows}
 * @param value the number; never NaN: what a trace is too short for is left out
 */
public record Statistic(String name, double value) {}
