package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.FileHash;
import org.expertpool.harness.stats.Statistic;
import org.expertpool.harness.stats.TraceStatistics;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceOutline;
import org.expertpool.harness.trace.Traces;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code poolbench trace info}: reads a trace whole and shows its shape, size, hash and locality statistics. */
@Command(
        name = "info",
        description = "Check a routing trace from end to end and show what it holds.",
        mixinStandardHelpOptions = true)
final class TraceInfoCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "TRACE", description = "The trace to read, compressed with gzip or not.")
    private Path file;

    @Option(names = "--json", description = "One JSON object instead of the tables.")
    private boolean json;

    @Option(
            names = "--statistics-forwards",
            paramLabel = "N",
            defaultValue = "" + TraceStatistics.DEFAULT_FORWARDS,
            description = "Take the statistics over the first N forwards; 0 for none. Default: ${DEFAULT-VALUE}.")
    private long statisticsForwards;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try (RoutingTrace trace = input.open(file)) {
            // Ids and weights are checked as they are read: read them all before the first line of output.
            Traces.copy(trace, (header, ids, weights) -> {});
            Map<String, Object> facts = facts(trace);
            TraceStatistics statistics = TraceStatistics.of(trace, statisticsForwards);
            input.printNotices();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                Map<String, Double> values = new LinkedHashMap<>();
                for (Statistic statistic : statistics.all()) {
                    values.put(statistic.name(), statistic.value());
                }
                facts.put("statistics_forwards", statisticsForwards);
                facts.put("statistics", values);
                facts.put("published", statistics.published());
                out.println(new ObjectMapper().writeValueAsString(facts));
                return 0;
            }
            facts.forEach((name, value) -> out.printf(Locale.ROOT, "%-24s %s%n", name, value));
            if (statisticsForwards > 0) {
                out.println();
                statistics.table().forEach(out::println);
            }
        }
        return 0;
    }

    private Map<String, Object> facts(RoutingTrace trace) throws IOException {
        TraceOutline outline = TraceOutline.of(trace);
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("file", file.toString());
        facts.put("file_bytes", Files.size(file));
        facts.put("sha256", FileHash.sha256(file));
        facts.put("source", trace.source());
        facts.put("layers", trace.shape().layers());
        facts.put("experts", trace.shape().experts());
        facts.put("top_k", trace.shape().topK());
        facts.put("weighted", trace.shape().weighted());
        facts.put("forwards", outline.forwards());
        facts.put("tokens", outline.tokens());
        facts.put("sequences", outline.sequences());
        facts.put("prefill_forwards", outline.prefillForwards());
        facts.put("prefill_tokens", outline.prefillTokens());
        facts.put("widest_forward_tokens", outline.widestTokens());
        return facts;
    }
}
