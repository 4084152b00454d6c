package org.expertpool.harness.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.expertpool.harness.analysis.Warnings;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.CsvJson;
import org.expertpool.harness.sim.PlacementFile;
import org.expertpool.harness.sim.SimulationCsv;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Policies;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code simulate}: replays a trace through placement policies and prints exact counts as CSV. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        description = {
            "Replay a routing trace through placement policies: one CSV row per (policy, rows).",
            "The gate opens before the first event. Experts are counted distinct per step; forwards with more lanes"
                    + " than the planner are in the partition_* columns alone and change no placement.",
            "Policies: a base, then promotion rules and settings, joined by +, for example",
            "  evict.lru+promote.nth-touch(2,8)+scope.layer",
            "--list-policies prints all parts. Short names of bases: lru and so on for evict.lru, belady (with bypass) and"
                    + " belady-forced for bound.belady and bound.belady-forced, static for",
            "static.profile, static-leaky, heat, half-pinned. Arguments left out take their defaults.",
            "Promotion controls and --initial do not bear on static; controls do not bear on heat and belady. Belady takes"
                    + " four bytes of memory per selection of the trace. Results do not depend on --threads.",
            "--gap says where the misses come from; analyse also takes them apart by layer, by sequence and over time, and shows"
                    + " working sets, reuse distances and lag overlap."
        })
final class SimulateCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "TRACE", description = "Trace file of any known form.")
    private Path trace;

    @Option(
            names = "--policy",
            required = true,
            paramLabel = "NAME,...",
            description = "Policy names; commas inside parentheses belong to a name.")
    private String policies;

    @Option(
            names = "--threads",
            paramLabel = "T",
            description = "Policies simulated at once. Default: the number of cores.")
    private Integer threads;

    @Option(
            names = "--list-policies",
            help = true,
            description = "Print the parts of policy names with their parameters and exit.")
    private boolean listPolicies;

    @Option(
            names = "--gap",
            description =
                    "Also run Belady's bounds and fill compulsory, capacity, admission and victim, which add up to the"
                            + " misses.")
    private boolean gap;

    @Mixin
    private ReplayOptions replay;

    @Mixin
    private PricingOptions prices;

    @Mixin
    private TraceInput input;

    @Option(names = "--out", paramLabel = "FILE.csv", description = "Write there instead of to the standard output.")
    private Path out;

    @Option(names = "--json", description = "A JSON array instead of CSV, an object per row.")
    private boolean json;

    @Option(
            names = "--save-placement",
            paramLabel = "FILE.csv",
            description = "Keep the placement at the end of the trace, of one policy and one number of rows.")
    private Path savePlacement;

    @Option(
            names = "--warm-placement",
            paramLabel = "FILE.csv",
            description = "Start with a placement that was kept, instead of --initial; one number of rows.")
    private Path warmPlacement;

    @Override
    public Integer call() throws IOException {
        if (listPolicies) {
            Policies.describe().forEach(spec.commandLine().getOut()::println);
            return 0;
        }
        if (threads != null && threads < 1) {
            throw new BadInputException("--threads is " + threads + ", expected at least 1");
        }
        SimulationRequest request = replay.request(policies);
        if (warmPlacement != null && replay.hasProfile()) {
            throw new BadInputException("--warm-placement and --profile are both given, expected one of them");
        }
        // Files that cannot be written are refused before the work, not after it.
        try (AtomicFile table = out == null ? null : AtomicFile.create(out);
                AtomicFile placement = savePlacement == null ? null : AtomicFile.create(savePlacement)) {
            simulate(request, table, placement);
        }
        return 0;
    }

    private void simulate(SimulationRequest request, AtomicFile table, AtomicFile placement) throws IOException {
        int workers = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
        String rowsText;
        String placed;
        try (RoutingTrace opened = input.open(trace)) {
            SimulationRequest whole = withCounts(request, opened.shape());
            placed = placement == null ? "" : PlacementFile.write(opened, whole);
            Valuations valuations = new Valuations(opened, whole, prices.pricing());
            List<SimulationResult> results = Simulator.simulate(opened, whole, workers);
            if (gap) {
                valuations.bound(results);
            }
            String csv = SimulationCsv.write(whole, results, valuations::of);
            warnings(results, opened.shape());
            rowsText = json ? CsvJson.of(csv) : csv;
            input.printNotices();
        }
        if (placement != null) {
            write(placement, placed);
        }
        if (table != null) {
            write(table, rowsText);
        } else {
            PrintWriter stdout = spec.commandLine().getOut();
            stdout.print(rowsText);
            stdout.flush();
        }
    }

    private SimulationRequest withCounts(SimulationRequest request, TraceShape shape) throws IOException {
        if (warmPlacement != null) {
            return request.withProfile(PlacementFile.read(warmPlacement, shape, request))
                    .withInitial(Initial.PROFILE);
        }
        return replay.withProfile(request, shape);
    }

    private void warnings(List<SimulationResult> results, TraceShape shape) {
        List<Warnings.Run> runs = results.stream()
                .map(result -> new Warnings.Run(
                        result.policy(),
                        result.scope().toString(),
                        result.rowsPerLayer(),
                        result.effectiveRows(),
                        shape.topK(),
                        result.forwards(),
                        result.partitionForwards(),
                        result.selections(),
                        result.misses(),
                        result.promoted() + result.exchanged()))
                .toList();
        Warnings.about(runs).forEach(warning -> spec.commandLine().getErr().println("warning: " + warning));
    }

    private static void write(AtomicFile file, String text) throws IOException {
        try (OutputStream stream = file.stream()) {
            stream.write(text.getBytes(StandardCharsets.UTF_8));
        }
        file.commit();
    }
}
