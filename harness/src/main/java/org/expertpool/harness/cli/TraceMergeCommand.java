package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.combine.StreamMerge;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trace merge}: sequences side by side as forwards of several decode tokens. */
@Command(
        name = "merge",
        mixinStandardHelpOptions = true,
        description = {
            "Merge the sequences of one or more traces into forwards of several decode tokens.",
            "Each forward takes one token of each stream; a stream whose sequence ends takes the next one, and at the end"
                    + " forwards get narrower. Prefill chunks stay forwards of their own. The result is one sequence."
                    + " Simulate it with --decode-tokens STREAMS."
        })
final class TraceMergeCommand implements Callable<Integer> {
    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description = "Traces to read, and last a new canonical file to write.")
    private List<Path> files;

    @Option(names = "--streams", required = true, paramLabel = "K", description = "Sequences side by side.")
    private int streams;

    @Option(names = "--seed", paramLabel = "S", description = "Shuffle the sequences; else they come in file order.")
    private Long seed;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (files.size() < 2) {
            throw new BadInputException("one file given, expected at least one to read and one to write");
        }
        Path out = files.get(files.size() - 1);
        if (Files.exists(out)) {
            // Where the output was forgotten, the last trace stands in its place.
            throw new BadInputException(out + ": exists, expected the name of a new file to write, last");
        }
        List<RoutingTrace> traces = new ArrayList<>();
        try {
            for (Path in : files.subList(0, files.size() - 1)) {
                traces.add(input.open(in));
            }
            OptionalLong order = seed == null ? OptionalLong.empty() : OptionalLong.of(seed);
            StreamMerge merge = new StreamMerge(traces, streams, order);
            try (TraceWriter writer = TraceWriter.create(out, merge.shape(), merge.source())) {
                merge.writeTo(writer);
                writer.commit();
                spec.commandLine()
                        .getOut()
                        .printf(Locale.ROOT, "%s: %d forwards, %s%n", out, writer.forwards(), merge.source());
            }
            input.printNotices();
            if (!merge.shape().weighted()
                    && traces.stream().anyMatch(trace -> trace.shape().weighted())) {
                spec.commandLine().getErr().println("lost: router weights, which not all of the traces have");
            }
        } finally {
            traces.forEach(RoutingTrace::close);
        }
        return 0;
    }
}
