package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

/** Times of several ways to do the same, taken in turn, so that what drifts meets all alike. */
final class TurnTimes {
    private final Map<String, DoubleSupplier> ways = new LinkedHashMap<>();

    /** @param micros does it once and says how long it took */
    void add(String name, DoubleSupplier micros) {
        ways.put(name, micros);
    }

    /** Microseconds of each round by name, after one round that does not count. */
    Map<String, double[]> run(int rounds) {
        Map<String, List<Double>> times = new LinkedHashMap<>();
        for (int round = -1; round < rounds; round++) {
            for (Map.Entry<String, DoubleSupplier> way : ways.entrySet()) {
                double micros = way.getValue().getAsDouble();
                if (round >= 0) {
                    times.computeIfAbsent(way.getKey(), name -> new ArrayList<>())
                            .add(micros);
                }
            }
        }
        Map<String, double[]> arrays = new LinkedHashMap<>();
        times.forEach((name, all) ->
                arrays.put(name, all.stream().mapToDouble(Double::doubleValue).toArray()));
        return arrays;
    }
}
