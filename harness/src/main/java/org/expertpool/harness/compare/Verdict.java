package org.expertpool.harness.compare;

import java.util.Locale;
import org.expertpool.harness.record.ResultColumn.Kind;

/** What a comparison of B with A says about one metric of one cell. */
public enum Verdict {
    FASTER,
    SLOWER,
    SAME,
    UNDECIDED,
    /** Counts, sizes and hashes: all values of A and B are one value. */
    EQUAL,
    /** Counts, sizes and hashes: they are not. */
    DIFFERENT;

    /** Repetitions that either side needs before a verdict other than undecided is given. */
    public static final int MIN_REPETITIONS = 3;

    /**
     * Judges a noisy metric.
     *
     * @param margin half-width of the band around ratio 1 that counts as the same, such as 0.01
     */
    public static Verdict of(MedianRatio ratio, int repetitions, double margin, Kind kind) {
        if (repetitions < MIN_REPETITIONS || Double.isNaN(ratio.ratio())) {
            return UNDECIDED;
        }
        boolean below = ratio.high() < 1 - margin;
        boolean above = ratio.low() > 1 + margin;
        if (below || above) {
            return above == (kind == Kind.HIGHER_IS_BETTER) ? FASTER : SLOWER;
        }
        boolean inside = ratio.low() >= 1 - margin && ratio.high() <= 1 + margin;
        return inside ? SAME : UNDECIDED;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
