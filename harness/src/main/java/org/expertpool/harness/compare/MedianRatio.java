package org.expertpool.harness.compare;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The ratio of two samples' medians, B over A, with the 95 % percentile interval of its bootstrap distribution: both
 * samples are redrawn with replacement, 10,000 times from seed 1, and the interval runs from the 250th to the 9,750th
 * smallest ratio.
 *
 * @param ratio median of B over median of A
 * @param low lower end of the interval
 * @param high upper end of the interval
 */
public record MedianRatio(double ratio, double low, double high) {
    private static final int RESAMPLES = 10_000;
    private static final long SEED = 1;

    /** Stands where no ratio exists. */
    public static final MedianRatio UNDEFINED = new MedianRatio(Double.NaN, Double.NaN, Double.NaN);

    /** NaN in all three where a resampled median of A is zero or the values are not finite. */
    public static MedianRatio of(double[] a, double[] b) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] ratios = new double[RESAMPLES];
        double[] drawnA = new double[a.length];
        double[] drawnB = new double[b.length];
        for (int i = 0; i < RESAMPLES; i++) {
            ratios[i] = median(draw(b, drawnB, random)) / median(draw(a, drawnA, random));
            if (!Double.isFinite(ratios[i])) {
                return UNDEFINED;
            }
        }
        Arrays.sort(ratios);
        int tail = RESAMPLES / 40;
        return new MedianRatio(median(b.clone()) / median(a.clone()), ratios[tail - 1], ratios[RESAMPLES - tail - 1]);
    }

    private static double[] draw(double[] sample, double[] into, SplittableRandom random) {
        for (int i = 0; i < into.length; i++) {
            into[i] = sample[random.nextInt(sample.length)];
        }
        return into;
    }

    /** The median of one value or more; sorts its argument. */
    public static double median(double[] values) {
        Arrays.sort(values);
        int middle = values.length / 2;
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }
}
