package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.expertpool.harness.sim.Bounds;
import org.expertpool.harness.sim.Gap;
import org.expertpool.harness.sim.ObservedRun;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.Policies;

/** Runs policies beside both clairvoyant bounds and says where the misses come from and how the trace reuses experts. */
public final class TraceAnalysis {
    private final SimulationRequest request;
    private final int stretchForwards;
    private final Optional<Pricing> pricing;
    private final WorkingSets workingSets;
    private final Reuse reuse;
    private final Overlap overlap;
    private final List<RunCounts> runs = new ArrayList<>();

    private final Table summary = Table.of(
            "summary",
            "policy",
            "scope",
            "initial",
            "rows_per_layer",
            "effective_rows",
            "forwards",
            "tokens",
            "selections",
            "hits",
            "misses",
            "promoted",
            "staged",
            "hit_ratio",
            "inserts_per_100_selections",
            "distinct_per_step",
            "h2d_bytes_per_token",
            "modelled_ms_per_token");
    private final Table gap = Table.of(
            "gap",
            "policy",
            "scope",
            "rows_per_layer",
            "misses",
            "compulsory",
            "capacity",
            "admission",
            "victim",
            "admission_ratio",
            "victim_ratio");
    private final RunTables parts = new RunTables(List.of("policy", "scope", "rows_per_layer"));

    private TraceAnalysis(TraceShape shape, SimulationRequest request, int stretchForwards, Optional<Pricing> pricing) {
        this.request = request;
        this.stretchForwards = stretchForwards;
        this.pricing = pricing;
        workingSets = new WorkingSets(shape.layers());
        reuse = new Reuse(shape.layers(), shape.experts());
        overlap = new Overlap(shape.layers());
    }

    /**
     * Analyses a trace.
     *
     * @param request policies, rows and how to count; both bounds run at every number of rows whether named or not
     * @param stretchForwards forwards per entry of the table over time
     * @param pricing absent: no bytes and no times
     */
    public static AnalysisReport of(
            RoutingTrace trace, SimulationRequest request, int stretchForwards, Optional<Pricing> pricing) {
        pricing.ifPresent(prices -> prices.requireShape(trace.shape()));
        return new TraceAnalysis(trace.shape(), request, stretchForwards, pricing).run(trace);
    }

    private AnalysisReport run(RoutingTrace trace) {
        Set<String> policies = new LinkedHashSet<>();
        request.policies().forEach(name -> policies.add(Policies.named(name).fullName()));
        policies.removeAll(List.of(Bounds.BYPASS, Bounds.FORCED));
        List<StepObserver> locality = List.of(workingSets, reuse, overlap);
        for (int rows : request.rows()) {
            Map<SimulationRequest, List<RunCounts>> bounds = new LinkedHashMap<>();
            bounds.put(request, bounds(trace, request, rows, runs.isEmpty() ? locality : List.of()));
            for (String policy : policies) {
                RunCounts run = count(trace, request, policy, rows, List.of());
                // Names may say scope and start of their own: bounds are taken with the same.
                SimulationRequest same = request.withScope(run.setup.scope()).withInitial(run.setup.initial());
                List<RunCounts> beside = bounds.computeIfAbsent(same, key -> bounds(trace, key, rows, List.of()));
                add(run, beside.get(0), beside.get(1));
            }
            for (List<RunCounts> pair : bounds.values()) {
                add(pair.get(1), pair.get(0), pair.get(1));
                add(pair.get(0), pair.get(0), pair.get(1));
            }
        }
        List<Table> tables = new ArrayList<>(List.of(summary, gap));
        tables.addAll(parts.tables());
        tables.addAll(List.of(workingSets.table(), reuse.table(), overlap.table()));
        return new AnalysisReport(
                tables, Warnings.about(runs.stream().map(RunCounts::summary).toList()));
    }

    /** Belady with bypass and forced. */
    private List<RunCounts> bounds(
            RoutingTrace trace, SimulationRequest settings, int rows, List<StepObserver> others) {
        return List.of(
                count(trace, settings, Bounds.BYPASS, rows, others),
                count(trace, settings, Bounds.FORCED, rows, List.of()));
    }

    private RunCounts count(
            RoutingTrace trace, SimulationRequest settings, String policy, int rows, List<StepObserver> others) {
        return RunCounts.of(new ObservedRun(trace, settings, policy, rows), stretchForwards, others);
    }

    private void add(RunCounts run, RunCounts bypass, RunCounts forced) {
        runs.add(run);
        Counts all = run.all;
        int rows = run.pool.rows();
        summary.add(Arrays.asList(
                run.policy,
                run.setup.scope().toString(),
                run.setup.initial().toString(),
                rows,
                run.pool.residentPerLayer(),
                all.forwards,
                all.tokens,
                all.selections(),
                all.hits,
                all.misses(),
                all.promoted,
                all.staged,
                all.hitRatio(),
                all.insertsPerHundred(),
                Counts.per(all.selections(), all.forwards * run.layers.size()),
                pricing.map(prices -> prices.bytesPerToken(all.misses(), all.tokens))
                        .orElse(null),
                pricing.map(prices -> prices.millisPerToken(all.steps, all.forwards, all.tokens))
                        .orElse(null)));
        Gap split = new Bounds(bypass.touches.count(), bypass.all.misses(), forced.all.misses()).gap(all.misses());
        gap.add(Arrays.asList(
                run.policy,
                run.setup.scope().toString(),
                rows,
                all.misses(),
                split.compulsory(),
                split.capacity(),
                split.admission(),
                split.victim(),
                Counts.per(split.admission(), all.selections()),
                Counts.per(split.victim(), all.selections())));
        parts.add(List.of(run.policy, run.setup.scope().toString(), rows), run);
    }
}
