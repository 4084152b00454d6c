package org.expertpool.harness.bench.device;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** Device time of an operation in each iteration, from what {@link DeviceTime} counted; nothing for other benchmarks. */
public final class DeviceTimeProfiler implements InternalProfiler {
    /** Label of the metric, in microseconds; averaged over iterations. */
    public static final String METRIC = "device_us_per_op";

    @Override
    public String getDescription() {
        return "Time between events on the device, per operation";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        // Counters are JMH's, and start at 0 in each iteration.
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        @SuppressWarnings("rawtypes") // as JMH has it
        Map<String, Result> counted = result.getSecondaryResults();
        Result<?> nanos = counted.get("deviceNanos");
        Result<?> operations = counted.get("deviceOps");
        if (nanos == null || operations == null || operations.getScore() == 0) {
            return List.of();
        }
        double micros = nanos.getScore() / 1e3 / operations.getScore();
        return List.of(new ScalarResult(METRIC, micros, "us/op", AggregationPolicy.AVG));
    }
}
