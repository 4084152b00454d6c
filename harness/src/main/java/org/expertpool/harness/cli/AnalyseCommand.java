package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.expertpool.harness.analysis.AnalysisFiles;
import org.expertpool.harness.analysis.AnalysisReport;
import org.expertpool.harness.analysis.Pricing;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.analysis.TraceAnalysis;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code analyse}: where the misses of a policy come from, and how a trace reuses experts. */
@Command(
        name = "analyse",
        mixinStandardHelpOptions = true,
        description = {
            "Say where the misses come from: misses = compulsory + capacity + admission + victim.",
            "compulsory: first selections of experts that were not resident at the start; capacity: Belady with bypass"
                    + " less compulsory; admission: Belady forced less with bypass; victim: the policy less Belady forced."
                    + " Negatives are shown. Both bounds run in any case.",
            "--out gets summary, gap, layers, sequences, over_time, after_start, working_set, reuse_distance and lag_overlap as"
                    + " CSV."
        })
final class AnalyseCommand implements Callable<Integer> {
    @Parameters(paramLabel = "TRACE", description = "Trace file of any known form.")
    private Path trace;

    @Option(
            names = "--policy",
            defaultValue = "lru",
            paramLabel = "NAME,...",
            description = "Default ${DEFAULT-VALUE}.")
    private String policies;

    @Option(
            names = "--stretch",
            defaultValue = "50",
            paramLabel = "F",
            description = "Forwards per line over time. Default ${DEFAULT-VALUE}.")
    private int stretchForwards;

    @Option(names = "--out", paramLabel = "DIR", description = "A new folder for the CSV files.")
    private Path out;

    @Option(names = "--json", description = "Print one JSON object with all tables.")
    private boolean json;

    @Mixin
    private ReplayOptions replay;

    @Mixin
    private PricingOptions prices;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (stretchForwards < 1) {
            throw new BadInputException("--stretch " + stretchForwards + ": expected at least 1");
        }
        Optional<Pricing> pricing = prices.pricing();
        SimulationRequest request = replay.request(policies);
        if (out != null) {
            AnalysisFiles.requireNew(out);
        }
        AnalysisReport report;
        String source;
        try (RoutingTrace opened = input.open(trace)) {
            source = opened.source();
            report = TraceAnalysis.of(opened, replay.withProfile(request, opened.shape()), stretchForwards, pricing);
            input.printNotices();
        }
        if (out != null) {
            AnalysisFiles.write(out, report.tables());
        }
        print(source, report);
        return 0;
    }

    private void print(String source, AnalysisReport report) throws IOException {
        PrintWriter stdout = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> whole = new LinkedHashMap<>();
            whole.put("trace", source);
            whole.put("warnings", report.warnings());
            report.tables().forEach(table -> whole.put(table.name(), table.maps()));
            stdout.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(whole));
        } else {
            report.warnings().forEach(warning -> spec.commandLine().getErr().println("warning: " + warning));
            for (String name : List.of("summary", "gap", "lag_overlap")) {
                Table table = report.table(name);
                stdout.println(name);
                stdout.println(table.markdown());
            }
        }
        stdout.flush();
    }
}
