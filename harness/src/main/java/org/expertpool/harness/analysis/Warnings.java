package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What makes the figures of some runs doubtful. */
final class Warnings {
    /** A sweep whose hit ratios differ by less is called flat. */
    static final double FLAT_RATIO = 0.001;

    private Warnings() {}

    static List<String> about(List<RunCounts> runs) {
        Set<String> warnings = new LinkedHashSet<>();
        Map<String, List<RunCounts>> sweeps = new LinkedHashMap<>();
        for (RunCounts run : runs) {
            sweeps.computeIfAbsent(run.policy + run.setup.scope(), name -> new ArrayList<>())
                    .add(run);
            ofRows(run, warnings);
            ofForwards(run, warnings);
        }
        sweeps.values().forEach(sweep -> ofSweep(sweep, warnings));
        return List.copyOf(warnings);
    }

    private static void ofRows(RunCounts run, Set<String> warnings) {
        int rows = run.pool.rows();
        int topK = run.pool.topK();
        if (rows < 2 * topK) {
            warnings.add("rows " + rows + " per layer are fewer than twice top-k (" + topK
                    + "): a token's own experts take most of them, and no policy can keep much");
        }
        if (run.pool.residentPerLayer() < rows) {
            warnings.add(
                    "rows " + rows + " fell back to " + run.pool.residentPerLayer() + ", one less than the experts");
        }
    }

    private static void ofForwards(RunCounts run, Set<String> warnings) {
        Counts all = run.all;
        if (run.wideForwards > 0) {
            warnings.add(run.wideForwards + " of " + (run.wideForwards + all.forwards)
                    + " scored forwards are wider than the planner, change no placement and are not in the counts;"
                    + " see --decode-tokens");
        }
        if (all.selections() == 0) {
            warnings.add("nothing was counted: no planned forward lies in the scored part");
        }
        boolean frozen = run.policy.startsWith("static.") || run.policy.startsWith("bound.");
        if (all.misses() > 0 && all.promoted + all.exchanged == 0 && !frozen) {
            warnings.add(run.policy + " at " + run.pool.rows() + " rows promoted nothing in " + all.misses()
                    + " misses: it fell back to a frozen placement");
        }
    }

    private static void ofSweep(List<RunCounts> sweep, Set<String> warnings) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (RunCounts run : sweep) {
            Double ratio = run.all.hitRatio();
            if (ratio != null) {
                least = Math.min(least, ratio);
                most = Math.max(most, ratio);
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
