package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What makes the figures of some runs doubtful. */
public final class Warnings {
    /** A sweep whose hit ratios differ by less is called flat. */
    static final double FLAT_RATIO = 0.001;

    private Warnings() {}

    /**
     * Scored counts of one policy at one number of rows.
     *
     * @param sweep what runs over several numbers of rows have in common, beside the policy
     * @param rows per layer, as asked for
     * @param effectiveRows per layer
     * @param forwards planned ones
     * @param wideForwards those wider than the planner
     * @param inserts experts brought into the bank
     */
    public record Run(
            String policy,
            String sweep,
            int rows,
            int effectiveRows,
            int topK,
            long forwards,
            long wideForwards,
            long selections,
            long misses,
            long inserts) {
        private double hitRatio() {
            return (double) (selections - misses) / selections;
        }
    }

    /** A sentence for each. */
    public static List<String> about(List<Run> runs) {
        Set<String> warnings = new LinkedHashSet<>();
        Map<List<String>, List<Run>> sweeps = new LinkedHashMap<>();
        for (Run run : runs) {
            sweeps.computeIfAbsent(List.of(run.policy, run.sweep), name -> new ArrayList<>())
                    .add(run);
            ofRows(run, warnings);
            ofForwards(run, warnings);
        }
        sweeps.values().forEach(sweep -> ofSweep(sweep, warnings));
        return List.copyOf(warnings);
    }

    private static void ofRows(Run run, Set<String> warnings) {
        if (run.rows < 2 * run.topK) {
            warnings.add("rows " + run.rows + " per layer are fewer than twice top-k (" + run.topK
                    + "): a token's own experts take most of them, and no policy can keep much");
        }
        if (run.effectiveRows < run.rows) {
            warnings.add("rows " + run.rows + " fell back to " + run.effectiveRows + ", one less than the experts");
        }
    }

    private static void ofForwards(Run run, Set<String> warnings) {
        if (run.wideForwards > 0) {
            warnings.add(run.wideForwards + " of " + (run.wideForwards + run.forwards)
                    + " scored forwards are wider than the planner, change no placement and are not in the counts;"
                    + " see decode tokens");
        }
        if (run.selections == 0) {
            warnings.add("nothing was counted: no planned forward lies in the scored part");
        }
        boolean frozen = run.policy.startsWith("static.") || run.policy.startsWith("bound.");
        if (run.misses > 0 && run.inserts == 0 && !frozen) {
            warnings.add(run.policy + " at " + run.rows + " rows promoted nothing in " + run.misses
                    + " misses: it fell back to a frozen placement");
        }
    }

    private static void ofSweep(List<Run> sweep, Set<String> warnings) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (Run run : sweep) {
            if (run.selections > 0) {
                least = Math.min(least, run.hitRatio());
                most = Math.max(most, run.hitRatio());
            }
        }
        if (sweep.size() > 1 && most - least < FLAT_RATIO) {
            warnings.add(String.format(
                    Locale.ROOT,
                    "%s is flat: over %d numbers of rows its hit ratio stays within %.6f to %.6f; check that rows take effect"
                            + " and that not everything fits",
                    sweep.get(0).policy,
                    sweep.size(),
                    least,
                    most));
        }
    }
}
