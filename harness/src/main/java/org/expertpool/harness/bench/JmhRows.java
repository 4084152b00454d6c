package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.expertpool.harness.bench.device.DeviceTimeProfiler;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * JMH results as rows of the results schema. A repetition is a fork; of benchmarks with time on the device it is an
 * iteration, since a fork of theirs waits for its memory, and no compiler of the JVM bears on device time.
 */
final class JmhRows {
    private static final Map<String, TimeUnit> UNITS = Map.of(
            "ns", TimeUnit.NANOSECONDS,
            "us", TimeUnit.MICROSECONDS,
            "ms", TimeUnit.MILLISECONDS,
            "s", TimeUnit.SECONDS,
            "min", TimeUnit.MINUTES,
            "hr", TimeUnit.HOURS,
            "day", TimeUnit.DAYS);

    private JmhRows() {}

    /** @param device its name, of the device's benchmarks; else empty */
    static List<ResultRow> of(Collection<RunResult> results, String device) {
        List<ResultRow> rows = new ArrayList<>();
        for (RunResult result : results) {
            int repetition = 0;
            for (BenchmarkResult fork : result.getBenchmarkResults()) {
                if (!fork.getSecondaryResults().containsKey(DeviceTimeProfiler.METRIC)) {
                    repetition++;
                    rows.add(row(result.getParams(), repetition, fork.getPrimaryResult())
                            .build());
                    continue;
                }
                for (IterationResult iteration : fork.getIterationResults()) {
                    repetition++;
                    Result<?> onDevice = iteration.getSecondaryResults().get(DeviceTimeProfiler.METRIC);
                    rows.add(row(result.getParams(), repetition, iteration.getPrimaryResult())
                            .put("device", device)
                            .put(DeviceTimeProfiler.METRIC, onDevice.getScore())
                            .build());
                }
            }
        }
        return rows;
    }

    private static ResultRow.Builder row(BenchmarkParams params, int repetition, Result<?> primary) {
        String unit = primary.getScoreUnit();
        ResultRow.Builder row = ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("experiment", "bench")
                .put("cell", cell(params))
                .put("repetition", repetition)
                .put("status", "ok")
                .put("basis", "measured")
                .put("engine", parameter(params, "engine").orElse("java"))
                .put("backend", "jmh")
                .put("model", parameter(params, "model").orElse(""))
                .put("rows_per_layer", parameter(params, "rows").orElse(""))
                .put("note", params.getMode() + ", " + unit);
        return putScore(row, primary.getScore(), unit);
    }

    private static Optional<String> parameter(BenchmarkParams params, String name) {
        return params.getParamsKeys().contains(name) ? Optional.of(params.getParam(name)) : Optional.empty();
    }

    private static String cell(BenchmarkParams params) {
        String name = params.getBenchmark();
        int method = name.lastIndexOf('.');
        StringBuilder cell = new StringBuilder("benchmark=" + name.substring(name.lastIndexOf('.', method - 1) + 1));
        params.getParamsKeys().stream()
                .sorted()
                .forEach(key -> cell.append(',').append(key).append('=').append(params.getParam(key)));
        return cell.toString();
    }

    /** Puts the score into the column of its kind, rate or time, in that column's unit. */
    static ResultRow.Builder putScore(ResultRow.Builder row, double score, String unit) {
        if (unit.startsWith("ops/")) {
            double seconds = UNITS.get(unit.substring("ops/".length())).toNanos(1) / 1e9;
            return row.put("ops_per_s", score / seconds);
        }
        if (unit.endsWith("/op")) {
            double nanos =
                    UNITS.get(unit.substring(0, unit.length() - "/op".length())).toNanos(1);
            return row.put("ns_per_op", score * nanos);
        }
        throw new IllegalArgumentException("JMH unit " + unit + ", expected ops/TIME or TIME/op");
    }
}
