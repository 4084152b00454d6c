package org.expertpool.harness.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceFormat;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.Traces;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code poolbench trace convert}: from any form to any form; says what the new form cannot hold. */
@Command(
        name = "convert",
        description = "Convert a routing trace; what the new form cannot hold is said on stderr.",
        mixinStandardHelpOptions = true)
final class TraceConvertCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "IN", description = "The trace to read, compressed with gzip or not.")
    private Path in;

    @Parameters(
            index = "1",
            paramLabel = "OUT",
            description = "The file to write; a text form named *.gz is compressed.")
    private Path out;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "canonical, csv, csv-token, csv-long, jsonl, json or flat; else from the name of OUT"
                    + " (.csv, .jsonl, .json, each also with .gz), else canonical.")
    private String format;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        TraceFormat to = format == null ? byName(out) : TraceFormat.of(format);
        try (RoutingTrace trace = input.open(in)) {
            PrintWriter err = spec.commandLine().getErr();
            List<String> lost = Traces.write(trace, out, to);
            input.printNotices();
            lost.forEach(field -> err.println("lost: " + field));
            TraceShape shape = trace.shape();
            spec.commandLine()
                    .getOut()
                    .printf(
                            Locale.ROOT,
                            "%s: %s, %d forwards of %d layers, %d experts, top %d%s%n",
                            out,
                            to.label(),
                            trace.forwards(),
                            shape.layers(),
                            shape.experts(),
                            shape.topK(),
                            shape.weighted() ? ", weighted" : "");
        }
        return 0;
    }

    private static TraceFormat byName(Path out) {
        String name = out.getFileName().toString().toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "");
        return switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "csv" -> TraceFormat.CSV;
            case "jsonl" -> TraceFormat.JSONL;
            case "json" -> TraceFormat.JSON;
            default -> TraceFormat.CANONICAL;
        };
    }
}
