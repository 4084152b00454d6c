package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.Callable;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.Traces;
import org.expertpool.harness.trace.synthetic.SyntheticTrace;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
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

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The trace file to write.")
    private Path out;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try (SyntheticTrace trace = SyntheticTraces.preset(preset, forwards, seed);
                TraceWriter writer = TraceWriter.create(out, trace.shape(), trace.source())) {
            Traces.copy(trace, writer);
            writer.commit();
            spec.commandLine().getErr().println("wrote " + out + ": " + trace.source());
        }
        return CommandLine.ExitCode.OK;
    }

    /** The preset names, for the help text. */
    static final class Presets implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return SyntheticTraces.names().iterator();
        }
    }
}
