package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.expertpool.harness.trace.ForwardSink;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.Traces;
import org.expertpool.harness.trace.combine.LongInput;
import org.expertpool.harness.trace.synthetic.SyntheticTrace;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code trace generate}: writes a synthetic trace of a preset in the canonical form. */
@Command(
        name = "generate",
        description = "Write a synthetic trace; the same preset, length and seed give the same bytes.",
        mixinStandardHelpOptions = true)
final class TraceGenerateCommand implements Callable<Integer> {
    @Option(
            names = "--preset",
            required = true,
            paramLabel = "NAME",
            completionCandidates = Presets.class,
            description = "One of ${COMPLETION-CANDIDATES}.")
    private String preset;

    @Option(names = "--forwards", required = true, paramLabel = "N", description = "Forwards of one token each.")
    private long forwards;

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--input-tokens",
            paramLabel = "T",
            defaultValue = "0",
            description = "Tokens of a prompt before them, in prefill chunks; all is one sequence then. Default: none.")
    private long inputTokens;

    @Option(
            names = "--chunk-tokens",
            paramLabel = "C",
            defaultValue = "512",
            description = "Tokens of a prefill chunk. Default: ${DEFAULT-VALUE}.")
    private int chunkTokens;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The trace file to write.")
    private Path out;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (inputTokens < 0) {
            throw new BadInputException("--input-tokens: " + inputTokens + ", expected at least 0");
        }
        try (SyntheticTrace trace = SyntheticTraces.preset(preset, Math.addExact(forwards, inputTokens), seed)) {
            if (inputTokens == 0) {
                write(trace, trace.source(), sink -> Traces.copy(trace, sink));
            } else {
                LongInput request = new LongInput(trace, inputTokens, chunkTokens);
                write(trace, request.source(), request::writeTo);
            }
        }
        return CommandLine.ExitCode.OK;
    }

    private void write(SyntheticTrace trace, String source, Consumer<ForwardSink> forwardsTo) throws IOException {
        try (TraceWriter writer = TraceWriter.create(out, trace.shape(), source)) {
            forwardsTo.accept(writer);
            writer.commit();
        }
        spec.commandLine().getErr().println("wrote " + out + ": " + source);
    }

    /** The preset names, for the help text. */
    static final class Presets implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return SyntheticTraces.names().iterator();
        }
    }
}
