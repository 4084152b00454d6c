package org.expertpool.harness.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** Results of {@code simulate} as CSV: a row per (policy, rows) pair, with the settings it ran under. */
public final class SimulationCsv {
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();

    private SimulationCsv() {}

    /** Header and rows, lines ended by {@code \n}. */
    public static String write(
            SimulationRequest request,
            List<SimulationResult> results,
            Function<SimulationResult, Valuation> valuations) {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter csv = new CSVPrinter(text, FORMAT)) {
            csv.printRecord(
                    "policy",
                    "scope",
                    "initial",
                    "rows_per_layer",
                    "effective_rows",
                    "capacity_rows",
                    "forwards",
                    "selections",
                    "hits",
                    "misses",
                    "promoted",
                    "staged",
                    "hit_ratio",
                    "partition_forwards",
                    "partition_selections",
                    "partition_hits",
                    "partition_misses",
                    "decode_tokens",
                    "controls",
                    "reset",
                    "score_from",
                    "exchanged",
                    "inserts_per_100",
                    "tokens",
                    "compulsory",
                    "capacity",
                    "admission",
                    "victim",
                    "h2d_bytes_per_token",
                    "modelled_ms_per_token");
            for (SimulationResult result : results) {
                Valuation valuation = valuations.apply(result);
                Optional<Gap> gap = valuation.gap();
                csv.printRecord(
                        result.policy(),
                        result.scope(),
                        result.initial(),
                        result.rowsPerLayer(),
                        result.effectiveRows(),
                        result.capacityRows(),
                        result.forwards(),
                        result.selections(),
                        result.hits(),
                        result.misses(),
                        result.promoted(),
                        result.staged(),
                        format("%.9f", result.hitRatio()),
                        result.partitionForwards(),
                        result.partitionSelections(),
                        result.partitionHits(),
                        result.partitionMisses(),
                        request.decodeTokens(),
                        controls(request.controls()),
                        request.resetAtSequence() ? "sequence" : "",
                        request.score(),
                        result.exchanged(),
                        format("%.4f", result.insertsPerHundred()),
                        result.tokens(),
                        gap.map(Gap::compulsory).orElse(null),
                        gap.map(Gap::capacity).orElse(null),
                        gap.map(Gap::admission).orElse(null),
                        gap.map(Gap::victim).orElse(null),
                        format("%.1f", valuation.h2dBytesPerToken()),
                        format("%.6f", valuation.modelledMsPerToken()));
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // a string takes everything
        }
        return text.toString();
    }

    private static String format(String pattern, OptionalDouble value) {
        return value.isEmpty() ? "" : String.format(Locale.ROOT, pattern, value.getAsDouble());
    }

    /** Those that were set, by name; semicolons keep the cell free of quotes. */
    private static String controls(Map<String, Integer> controls) {
        return new TreeMap<>(controls)
                .entrySet().stream()
                        .map(control -> control.getKey() + "=" + control.getValue())
                        .collect(Collectors.joining(";"));
    }
}
