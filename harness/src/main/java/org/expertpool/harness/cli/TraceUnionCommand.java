package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.combine.TokenUnion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trace union}: consecutive tokens of a sequence as one forward. */
@Command(
        name = "union",
        mixinStandardHelpOptions = true,
        description = {
            "Join consecutive decode tokens of a sequence into one forward, as speculative decoding verifies them.",
            "All tokens count as accepted, so groups are disjoint; the last of a sequence may be narrower."
                    + " Simulate the result with --decode-tokens R."
        })
final class TraceUnionCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "IN", description = "The trace to read.")
    private Path in;

    @Parameters(index = "1", paramLabel = "OUT", description = "The canonical file to write.")
    private Path out;

    @Option(names = "--rows", required = true, paramLabel = "R", description = "Tokens per forward.")
    private int rows;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try (RoutingTrace trace = input.open(in)) {
            TokenUnion union = new TokenUnion(trace, rows);
            try (TraceWriter writer = TraceWriter.create(out, trace.shape(), union.source())) {
                union.writeTo(writer);
                writer.commit();
                spec.commandLine()
                        .getOut()
                        .printf(Locale.ROOT, "%s: %d forwards, %s%n", out, writer.forwards(), union.source());
            }
            input.printNotices();
        }
        return 0;
    }
}
