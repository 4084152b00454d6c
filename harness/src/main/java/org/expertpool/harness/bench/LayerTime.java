package org.expertpool.harness.bench;

import java.util.Arrays;

/**
 * Time of a layer, from whole forwards.
 *
 * @param engine its name
 * @param mode {@code graph} or {@code eager}
 * @param tokens of a forward
 * @param misses imposed on every layer call; -1 where nothing is planned
 * @param forwards timed
 * @param medianMicros of a forward's time divided by its layers
 * @param p10Micros a tenth of the forwards took at most this
 * @param p90Micros nine tenths
 */
record LayerTime(
        String engine,
        String mode,
        int tokens,
        int misses,
        int layers,
        int forwards,
        double medianMicros,
        double p10Micros,
        double p90Micros) {
    static LayerTime of(String engine, String mode, int tokens, int misses, int layers, double[] forwardMicros) {
        double[] sorted = forwardMicros.clone();
        Arrays.sort(sorted);
        return new LayerTime(
                engine,
                mode,
                tokens,
                misses,
                layers,
                sorted.length,
                at(sorted, 0.5) / layers,
                at(sorted, 0.1) / layers,
                at(sorted, 0.9) / layers);
    }

    /** Nearest rank. */
    private static double at(double[] sorted, double share) {
        return sorted[(int) Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
    }
}
