package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.FileHash;
import org.expertpool.harness.stats.TraceStatistics;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceOutline;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code poolbench trace info}: shape, size, hash and statistics of a trace. */
@Command(name = "info", description = "Show what a routing trace holds.", mixinStandardHelpOptions = true)
final class TraceInfoCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "TRACE", description = "The trace to read, compressed with gzip or not.")
    private Path file;

    @Option(names = "--json", description = "One JSON object instead of the table.")
    private boolean json;

    @Option(
            names = "--statistics-forwards",
            paramLabel = "N",
            defaultValue = "" + TraceStatistics.DEFAULT_FORWARDS,
            description =
                    "Take locality statistics of the first N forwards; 0 leaves them out. Default: ${DEFAULT-VALUE}.")
    private long statisticsForwards;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        try (RoutingTrace trace = input.open(file)) {
            Map<String, Object> facts = facts(trace);
            TraceStatistics statistics = TraceStatistics.of(trace, statisticsForwards);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                facts.put("statistics", statistics.all());
                facts.put("published", statistics.published());
                out.println(new ObjectMapper().writeValueAsString(facts));
            } else {
                facts.forEach((name, value) -> out.printf(Locale.ROOT, "%-24s %s%n", name, value));
                statistics.table().forEach(out::println);
            }
        }
        return 0;
    }

    private Map<String, Object> facts(RoutingTrace trace) throws Exception {
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
