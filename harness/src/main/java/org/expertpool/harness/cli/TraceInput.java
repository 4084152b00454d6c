package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceFormat;
import org.expertpool.harness.trace.TraceOptions;
import org.expertpool.harness.trace.Traces;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of each command that reads a trace. */
final class TraceInput {
    @Option(
            names = "--layers",
            paramLabel = "L",
            description = "Layers per forward; else the largest layer number + 1, with a notice.")
    private Integer layers;

    @Option(
            names = "--experts",
            paramLabel = "E",
            description = "Experts per layer; else the largest expert id + 1, with a notice.")
    private Integer experts;

    @Option(
            names = "--top-k",
            paramLabel = "K",
            description = "Experts per token, for a flat stream that does not show it.")
    private Integer topK;

    @Option(
            names = "--from",
            paramLabel = "FORMAT",
            description = "The form of the trace: canonical, csv, csv-token, csv-long, jsonl, json, flat;"
                    + " else recognised from its first bytes.")
    private String from;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    private final List<String> notices = new ArrayList<>();

    /** Opens the trace; what there is to say about it waits for {@link #printNotices}. */
    RoutingTrace open(Path file) throws IOException {
        return Traces.open(
                file,
                new TraceOptions(
                        optional(layers),
                        optional(experts),
                        optional(topK),
                        Optional.ofNullable(from).map(TraceFormat::of),
                        notices::add));
    }

    /** Prints the notices on the error stream: once all went well, since bad input is one line and no more. */
    void printNotices() {
        notices.forEach(notice -> command.commandLine().getErr().println("notice: " + notice));
    }

    private static OptionalInt optional(Integer value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of(value);
    }
}
