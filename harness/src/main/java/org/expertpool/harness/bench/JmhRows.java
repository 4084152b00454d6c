package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;

/** JMH results as rows of the results schema: one row per benchmark, parameter set and fork; a fork is a repetition. */
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

    static List<ResultRow> of(Collection<RunResult> results) {
        List<ResultRow> rows = new ArrayList<>();
        for (RunResult result : results) {
            int fork = 0;
            for (BenchmarkResult forkResult : result.getBenchmarkResults()) {
                fork++;
                rows.add(row(
                        result.getParams(),
                        fork,
                        forkResult.getPrimaryResult().getScore(),
                        forkResult.getPrimaryResult().getScoreUnit()));
            }
        }
        return rows;
    }

    /** The row of one fork; {@code unit} is JMH's, such as {@code us/op} or {@code ops/s}. */
    static ResultRow row(BenchmarkParams params, int fork, double score, String unit) {
        ResultRow.Builder row = ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("experiment", "bench")
                .put("cell", cell(params))
                .put("repetition", fork)
                .put("status", "ok")
                .put("basis", "measured")
                .put("engine", "java")
                .put("backend", "jmh")
                .put("rows_per_layer", params.getParamsKeys().contains("rows") ? params.getParam("rows") : "")
                .put("note", params.getMode() + ", " + unit);
        return putScore(row, score, unit).build();
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
