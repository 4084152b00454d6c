package org.expertpool.harness.run;

import java.util.Map;
import java.util.TreeMap;
import org.expertpool.harness.sim.StepHistogram;

/** How long the steps of a simulation take by a model, as a distribution. */
final class StepTimes {
    private final TreeMap<Double, Long> stepsByMicros = new TreeMap<>();
    private long steps;

    /** Time of a step by distinct experts selected and missed, microseconds. */
    @FunctionalInterface
    interface StepModel {
        double micros(double selected, int misses);
    }

    private StepTimes() {}

    static StepTimes of(StepHistogram histogram, StepModel model) {
        StepTimes times = new StepTimes();
        histogram.forEach((selected, misses, count) -> {
            times.stepsByMicros.merge(model.micros(selected, misses), count, Long::sum);
            times.steps += count;
        });
        return times;
    }

    /** The least time that at least this share of the steps keeps to, microseconds; NaN without steps. */
    double percentile(double share) {
        long needed = (long) Math.ceil(share * steps);
        long seen = 0;
        for (Map.Entry<Double, Long> entry : stepsByMicros.entrySet()) {
            seen += entry.getValue();
            if (seen >= needed) {
                return entry.getKey();
            }
        }
        return Double.NaN;
    }
}
