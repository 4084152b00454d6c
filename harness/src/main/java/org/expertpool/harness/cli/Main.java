package org.expertpool.harness.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The {@code poolbench} command line. Exit codes: 0 done, 1 a run or check failed, 2 wrong usage or bad input. */
@Command(
        name = "poolbench",
        description = "Measure and model MoE expert pools: a GPU bank of expert rows, its planner and its policies.",
        mixinStandardHelpOptions = true,
        version = "poolbench 0.1.0",
        subcommands = {
            CommandLine.HelpCommand.class,
            AdviseCommand.class,
            AnalyseCommand.class,
            BenchCommand.class,
            BreakdownCommand.class,
            CapacityCommand.class,
            CheckpointCommand.class,
            CompareCommand.class,
            DoctorCommand.class,
            FitCommand.class,
            MergeCommand.class,
            PlotCommand.class,
            ReplayCommand.class,
            RunCommand.class,
            SimulateCommand.class,
            TablesCommand.class,
            TraceCommand.class,
            VerifyCommand.class
        })
public final class Main implements Runnable {
    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Print the stack trace of a failure.")
    private boolean debug;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    public static void main(String[] args) {
        int exit = run(args);
        System.exit(System.out.checkError() ? outputLost(exit) : exit);
    }

    // Print streams keep failures to themselves: what a full disk did not take must not end as a success.
    // Nothing is said where the reader has gone away, as "head" does.
    private static int outputLost(int exit) {
        String problem = "not all was written";
        try {
            new FileOutputStream(FileDescriptor.out).write('\n');
        } catch (IOException failure) {
            problem = PathProblem.of(failure);
        }
        if (!problem.equals("Broken pipe")) {
            System.err.println("poolbench: standard output: " + problem);
        }
        return exit == ExitCode.OK ? ExitCode.SOFTWARE : exit;
    }

    /** Runs one command line and returns its exit code. */
    public static int run(String... args) {
        return commandLine().execute(args);
    }

    /** As {@link #run(String...)}, with results and errors printed to the writers given. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        return commandLine().setOut(out).setErr(err).execute(args);
    }

    static CommandLine commandLine() {
        Main main = new Main();
        return new CommandLine(main)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::wrongUsage)
                .setExecutionExceptionHandler((failure, command, parsed) -> main.failed(failure, command));
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    private static int wrongUsage(CommandLine.ParameterException wrong, String[] args) {
        CommandLine command = wrong.getCommandLine();
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + oneLine(wrong.getMessage()));
        return ExitCode.USAGE;
    }

    private int failed(Exception failure, CommandLine command) {
        if (debug) {
            failure.printStackTrace(command.getErr());
        }
        Exception told = failure instanceof UncheckedIOException wrapped ? wrapped.getCause() : failure;
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + oneLine(message(told)));
        // A path that the system refuses is what the caller named, as wrong an argument as any other.
        return told instanceof BadInputException || told instanceof FileSystemException
                ? ExitCode.USAGE
                : ExitCode.SOFTWARE;
    }

    private static String message(Exception failure) {
        if (failure instanceof FileSystemException path && path.getReason() == null) {
            return path.getFile() + ": " + PathProblem.of(path);
        }
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }

    private static String oneLine(String message) {
        return message.replaceAll("\\s*\\R\\s*", " ");
    }
}
