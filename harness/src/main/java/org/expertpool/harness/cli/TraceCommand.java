package org.expertpool.harness.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code poolbench trace}: the trace tools. */
@Command(
        name = "trace",
        description = "Look at, convert, generate, merge and capture routing traces.",
        mixinStandardHelpOptions = true,
        subcommands = {
            TraceInfoCommand.class,
            TraceGenerateCommand.class,
            TraceConvertCommand.class,
            TraceMergeCommand.class,
            TraceUnionCommand.class,
            TraceCaptureCommand.class
        })
final class TraceCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
