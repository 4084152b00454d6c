package org.expertpool.harness.bench;

import org.expertpool.harness.compare.MedianRatio;

/**
 * How the streamed way compares with others that were timed in turn with it, forward by forward.
 *
 * @param routing of the chunks
 * @param rounds forwards of each way
 * @param hostView time of the host view over that of the streamed way
 * @param uva time of all experts read from the host over that of the streamed way
 * @param linkShare rate of the streamed way's missing rows over that of large copies alone
 */
record PrefillRatios(
        String routing,
        int tokens,
        int residents,
        int rounds,
        MedianRatio hostView,
        MedianRatio uva,
        MedianRatio linkShare) {
    /**
     * @param copies microseconds of a copy of all rows
     * @param missingShare of all rows, what the streamed way brings in
     */
    static PrefillRatios of(
            String routing,
            int tokens,
            int residents,
            double missingShare,
            double[] copies,
            double[] streamed,
            double[] hostView,
            double[] uva) {
        return new PrefillRatios(
                routing,
                tokens,
                residents,
                streamed.length,
                MedianRatio.of(streamed, hostView),
                MedianRatio.of(streamed, uva),
                times(MedianRatio.of(streamed, copies), missingShare));
    }

    private static MedianRatio times(MedianRatio ratio, double factor) {
        return new MedianRatio(ratio.ratio() * factor, ratio.low() * factor, ratio.high() * factor);
    }
}
