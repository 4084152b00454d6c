package org.expertpool.pool.format;

import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;

/** An oracle for encoders: searches a whole table of values for the nearest, ties to the even code. */
final class NearestEven {
    private final double[] values;

    /** @param valueOf values of the non-negative finite codes 0, 1, 2, ..., ascending */
    NearestEven(int codes, IntToDoubleFunction valueOf) {
        values = new double[codes];
        for (int code = 0; code < codes; code++) {
            values[code] = valueOf.applyAsDouble(code);
        }
    }

    /** The code of a magnitude; beyond the table it is the last code. */
    int code(double magnitude) {
        int best = 0;
        for (int code = 1; code < values.length; code++) {
            double nearer = Math.abs(values[best] - magnitude) - Math.abs(values[code] - magnitude);
            if (nearer > 0 || (nearer == 0 && code % 2 == 0)) {
                best = code;
            }
        }
        return best;
    }

    /** Magnitudes where encoders go wrong: every value, every midpoint, their fp32 neighbours; then random ones. */
    float[] hardMagnitudes(int random, long seed) {
        SplittableRandom source = new SplittableRandom(seed);
        float[] magnitudes = new float[6 * values.length + random];
        int at = 0;
        for (int code = 0; code < values.length; code++) {
            float value = (float) values[code];
            float middle = code + 1 < values.length ? (float) ((values[code] + values[code + 1]) / 2) : value;
            for (float hard : new float[] {value, middle}) {
                magnitudes[at++] = hard;
                magnitudes[at++] = Math.nextUp(hard);
                magnitudes[at++] = Math.max(0, Math.nextDown(hard));
            }
        }
        double largest = values[values.length - 1];
        while (at < magnitudes.length) {
            double exponent = -40 * source.nextDouble() * source.nextDouble();
            magnitudes[at++] = (float) (1.1 * largest * Math.pow(2, exponent));
        }
        return magnitudes;
    }
}
