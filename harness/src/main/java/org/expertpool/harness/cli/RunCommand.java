package org.expertpool.harness.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.expertpool.harness.run.Experiments;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench run}: an experiment from its definition to rows, figures and a table. */
@Command(
        name = "run",
        description = "Run an experiment: rows as they end, then environment, figures and a summary table.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit code: 0 done (cells may be refused or skipped), 1 a cell or a check failed, 2 bad input.",
            "A run that was stopped goes on with --resume; rows that are written are never computed again."
        })
final class RunCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DEFINITION.toml", description = "The experiment.")
    private Path definition;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            defaultValue = "auto",
            description = "auto, model, java or cuda (default: ${DEFAULT-VALUE}).")
    private String backend;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where the results go (default: experiments/results/<name>/<UTC date>.<n>).")
    private Path out;

    @Option(
            names = "--resume",
            description = "Go on with the run in DIR; without --out, with the experiment's newest run.")
    private boolean resume;

    @Option(names = "--shard", paramLabel = "i/n", description = "Run part i of n, each into a DIR of its own.")
    private String shard;

    @Option(
            names = "--repetition",
            paramLabel = "K",
            description = "Measure this repetition of each cell alone; with --resume, beside those that DIR has.")
    private Integer repetition;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Override a key of the definition: an axis (rows=16,208) or a path (trace.forwards=200).")
    private List<String> settings = new ArrayList<>();

    @Option(names = "--dry-run", description = "List the cells and the estimated time; write nothing.")
    private boolean dryRun;

    @Option(names = "--json", description = "Print one JSON object instead of the table: all rows, checks, warnings.")
    private boolean json;

    @Mixin
    private HostRowsOption hostRows;

    @Override
    public Integer call() throws Exception {
        boolean success = new Experiments(System.out, System.err, hostRows.rows(System.err::println), OwnProcess::run)
                .run(new Experiments.Request(
                        definition,
                        backend,
                        Optional.ofNullable(out),
                        resume,
                        Optional.ofNullable(shard),
                        repetition == null ? OptionalInt.empty() : OptionalInt.of(repetition),
                        settings,
                        dryRun,
                        json));
        return success ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
