package org.expertpool.harness.run;

import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;

/** The columns of time of a pass on the device; the device's own clock. */
final class DeviceTimes {
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double MICROS_PER_MILLI = 1e3;
    private static final double BYTES_PER_GB = 1e9;

    private DeviceTimes() {}

    static void put(DeviceReplay.Result result, int layers, ResultRow.Builder row) {
        putPrefill(result.prefill(), row);
        if (result.steadyTokens() == 0) {
            return;
        }
        row.put("decode_tok_per_s", result.steadyTokens() * MICROS_PER_SECOND / result.steadyMicros());
        row.put("decode_ms_per_token", result.steadyMicros() / MICROS_PER_MILLI / result.steadyTokens());
        double[] sorted = result.decodeMicros().stream()
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        for (int percent : new int[] {50, 99}) {
            row.put("step_p" + percent + "_us", percentile(sorted, percent) / layers);
        }
    }

    /** The least of the times that at least so many in a hundred keep to. */
    static double percentile(double[] ascending, int percent) {
        return ascending[(int) Math.ceil(percent / 100.0 * ascending.length) - 1];
    }

    private static void putPrefill(DeviceReplay.Prefill prefill, ResultRow.Builder row) {
        if (prefill.tokens() == 0) {
            return;
        }
        row.put("prefill_tok_per_s", prefill.tokens() * MICROS_PER_SECOND / prefill.micros());
        if (prefill.prompts() > 0) { // their mean, where a run has several
            row.put("ttft_s", prefill.micros() / MICROS_PER_SECOND / prefill.prompts());
        }
    }

    /** Bytes that crossed the link over the time of the decode forwards that they were for. */
    static void putLinkRate(DeviceReplay.Result result, double linkBytes, ResultRow.Builder row) {
        if (result.steadyMicros() > 0) {
            double micros = result.decodeMicros().stream()
                    .mapToDouble(Double::doubleValue)
                    .sum();
            row.put("h2d_gb_per_s", linkBytes / BYTES_PER_GB / (micros / MICROS_PER_SECOND));
        }
    }
}
