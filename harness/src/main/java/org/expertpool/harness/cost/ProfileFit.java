package org.expertpool.harness.cost;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.expertpool.pool.BadInputException;

/**
 * Constants of a device profile with which modelled times come nearest to measured ones: least squares of the logarithm of
 * their ratio, by Levenberg's method over the logarithms of the constants, which stay positive.
 */
public final class ProfileFit {
    private static final int MOST_ITERATIONS = 200;
    private static final double STEP = 1e-5;
    private static final double FIRST_DAMPING = 1e-3;
    private static final double DAMPING_FACTOR = 10;
    private static final double MOST_DAMPING = 1e9;
    private static final double MOST_CHANGE = 1; // of a logarithm in one step

    /**
     * A measured time.
     *
     * @param name says where it comes from
     * @param measuredMicros more than 0
     * @param modelMicros the same as a profile has it
     */
    public record Observation(String name, double measuredMicros, ToDoubleFunction<DeviceProfile> modelMicros) {
        /** Modelled over measured, less 1. */
        public double error(DeviceProfile profile) {
            return modelMicros.applyAsDouble(profile) / measuredMicros - 1;
        }
    }

    private final DeviceProfile start;
    private final List<String> free;
    private final List<Observation> observations;

    private ProfileFit(DeviceProfile start, List<String> free, List<Observation> observations) {
        this.start = start;
        this.free = List.copyOf(free);
        this.observations = List.copyOf(observations);
    }

    /**
     * Fits the constants that are named; all others stay.
     *
     * @throws BadInputException an unknown constant, one that starts at 0, or fewer observations than constants
     */
    public static DeviceProfile fit(
            DeviceProfile start, List<String> free, List<Observation> observations, String source) {
        for (String key : free) {
            if (!DeviceProfile.KEYS.contains(key)) {
                throw new BadInputException(
                        "constant '" + key + "', expected one of " + String.join(", ", DeviceProfile.KEYS));
            }
            if (start.value(key) <= 0) {
                throw new BadInputException("constant " + key + " is " + start.value(key) + " in profile "
                        + start.name() + ", expected more than 0 to fit it");
            }
        }
        if (observations.size() < free.size()) {
            throw new BadInputException(observations.size() + " measured cells, expected at least " + free.size()
                    + " for as many constants");
        }
        ProfileFit fit = new ProfileFit(start, free, observations);
        return fit.profile(fit.search(), source);
    }

    private double[] search() {
        double[] at =
                free.stream().mapToDouble(key -> Math.log(start.value(key))).toArray();
        double damping = FIRST_DAMPING;
        double[] residuals = residuals(at);
        for (int i = 0; i < MOST_ITERATIONS && damping < MOST_DAMPING; i++) {
            double[] next = step(at, residuals, damping);
            double[] after = residuals(next);
            if (sumOfSquares(after) < sumOfSquares(residuals)) {
                at = next;
                residuals = after;
                damping /= DAMPING_FACTOR;
            } else {
                damping *= DAMPING_FACTOR;
            }
        }
        return at;
    }

    private double[] step(double[] at, double[] residuals, double damping) {
        int n = at.length;
        double[][] slopes = new double[n][];
        for (int j = 0; j < n; j++) {
            double[] moved = at.clone();
            moved[j] += STEP;
            double[] there = residuals(moved);
            slopes[j] = new double[residuals.length];
            for (int i = 0; i < residuals.length; i++) {
                slopes[j][i] = (there[i] - residuals[i]) / STEP;
            }
        }
        double[][] normal = new double[n][n + 1];
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < n; column++) {
                normal[row][column] = dot(slopes[row], slopes[column]);
            }
            normal[row][row] += damping * (normal[row][row] + 1);
            normal[row][n] = -dot(slopes[row], residuals);
        }
        double[] change = solve(normal);
        double[] next = at.clone();
        for (int j = 0; j < n; j++) {
            next[j] += Math.max(-MOST_CHANGE, Math.min(MOST_CHANGE, change[j]));
        }
        return next;
    }

    /** Gauss with row exchange; damping keeps the matrix regular. */
    private static double[] solve(double[][] rows) {
        int n = rows.length;
        for (int pivot = 0; pivot < n; pivot++) {
            int best = pivot;
            for (int row = pivot + 1; row < n; row++) {
                best = Math.abs(rows[row][pivot]) > Math.abs(rows[best][pivot]) ? row : best;
            }
            double[] swapped = rows[pivot];
            rows[pivot] = rows[best];
            rows[best] = swapped;
            for (int row = 0; row < n; row++) {
                double factor = row == pivot ? 0 : rows[row][pivot] / rows[pivot][pivot];
                for (int column = pivot; factor != 0 && column <= n; column++) {
                    rows[row][column] -= factor * rows[pivot][column];
                }
            }
        }
        double[] solution = new double[n];
        Arrays.setAll(solution, i -> rows[i][n] / rows[i][i]);
        return solution;
    }

    private double[] residuals(double[] at) {
        DeviceProfile profile = profile(at, "trial");
        return observations.stream()
                .mapToDouble(seen -> Math.log(seen.modelMicros().applyAsDouble(profile) / seen.measuredMicros()))
                .toArray();
    }

    private DeviceProfile profile(double[] at, String source) {
        Map<String, ProfileConstant> fitted = new LinkedHashMap<>();
        for (int j = 0; j < at.length; j++) {
            fitted.put(free.get(j), new ProfileConstant(Math.exp(at[j]), ProfileConstant.Kind.FITTED, source));
        }
        return start.with(fitted);
    }

    private static double sumOfSquares(double[] values) {
        return dot(values, values);
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
