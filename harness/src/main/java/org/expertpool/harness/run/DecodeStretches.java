package org.expertpool.harness.run;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.exact.DeviceReplay;

/**
 * Decode forwards of measured cells, by stretches of a run: their times, as speed changes while a pool gets warm; and the
 * digest of all outputs so far, which a shorter run of the same trace, by any engine, must share.
 */
final class DecodeStretches {
    private static final double MICROS_PER_MILLI = 1e3;

    private final Map<String, DeviceReplay.Result> kept = new HashMap<>(); // by cell id, of its last repetition

    void keep(Cell cell, DeviceReplay.Result result) {
        kept.put(cell.id(), result);
    }

    /** A line per cell and stretch of so many scored decode forwards, the last one shorter. */
    Table table(List<Cell> cells, int stretchForwards) {
        Table table = Table.of(
                "decode_times",
                "cell",
                "from_decode_forward",
                "decode_forwards",
                "decode_ms_per_forward",
                "decode_ms_per_forward_p50",
                "decode_ms_per_forward_p99",
                "output_sha256");
        for (Cell cell : cells) {
            DeviceReplay.Result result = kept.get(cell.id());
            if (result == null) {
                continue;
            }
            double[] all = result.decodeMicros().stream()
                    .mapToDouble(Double::doubleValue)
                    .toArray();
            for (int from = 0; from < all.length; from += stretchForwards) {
                double[] some = Arrays.copyOfRange(all, from, Math.min(all.length, from + stretchForwards));
                Arrays.sort(some);
                table.add(List.of(
                        cell.id(),
                        from,
                        some.length,
                        Arrays.stream(some).sum() / some.length / MICROS_PER_MILLI,
                        DeviceTimes.percentile(some, 50) / MICROS_PER_MILLI,
                        DeviceTimes.percentile(some, 99) / MICROS_PER_MILLI,
                        result.outputs().sha256Through(from + some.length)));
            }
        }
        return table;
    }
}
