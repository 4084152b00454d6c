package org.expertpool.harness.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;

/** Runs experiments for the command line. */
public final class Experiments {
    /** Backends that {@code --backend} accepts. */
    public static final List<String> BACKENDS = List.of("auto", "model", "java", "cuda");

    /**
     * What to run and how.
     *
     * @param definition TOML file
     * @param backend one of {@link #BACKENDS}
     * @param out the run's folder; absent: the next free one
     * @param shard {@code i/n}; absent: everything
     * @param repetition the one repetition of each cell to run; absent: all
     * @param settings {@code key=value} overrides of the definition
     * @param json print JSON instead of tables
     */
    public record Request(
            Path definition,
            String backend,
            Optional<Path> out,
            boolean resume,
            Optional<String> shard,
            OptionalInt repetition,
            List<String> settings,
            boolean dryRun,
            boolean json) {}

    private final PrintStream out;
    private final PrintStream notices;
    private final HostRows rows;
    private final RunProcess processes;

    /** Runs with rows in memory, in this process alone. */
    public Experiments(PrintStream out, PrintStream notices) {
        this(out, notices, HostRows.inMemory(notices::println), arguments -> {
            throw new BadInputException("fresh processes are not to be had here, expected a repetition to run");
        });
    }

    /**
     * @param rows what a device reads experts from
     * @param processes starts the processes of definitions whose repetitions each want one
     */
    public Experiments(PrintStream out, PrintStream notices, HostRows rows, RunProcess processes) {
        this.out = out;
        this.notices = notices;
        this.rows = rows;
        this.processes = processes;
    }

    /** Makes the backend of a definition. */
    @FunctionalInterface
    interface BackendFactory {
        CellBackend create(Definition definition, TraceLibrary traces);
    }

    /** Runs, or on a dry run lists what would run; false if a cell or a check failed. */
    public boolean run(Request request) throws IOException {
        if (request.backend().equals("cuda") && !request.dryRun()) { // a plan needs no device
            CudaContext.whyNot().ifPresent(reason -> {
                throw new BadInputException("--backend cuda: " + reason + ", expected auto, model or java");
            });
        }
        if (!request.backend().equals("auto")) {
            return run(request, backend(request.backend()));
        }
        Optional<String> absent = whyNoDevice(request);
        boolean success = run(request, backend(absent.isPresent() ? "model" : "cuda"));
        // Said last: where the request is bad, its one line stands alone.
        notices.println(absent.map(reason -> "backend model: counts are exact, times are modelled (" + reason + ")")
                .orElse("backend cuda: a device and the kernels are here"));
        return success;
    }

    private static Optional<String> whyNoDevice(Request request) throws IOException {
        Definition definition = DefinitionReader.read(request.definition(), request.settings());
        if (definition.cells().stream().allMatch(cell -> cell.device().isPresent())) {
            return Optional.of("the definition names a device to model");
        }
        return CudaContext.whyNot();
    }

    boolean run(Request request, BackendFactory factory) throws IOException {
        Definition definition = DefinitionReader.read(request.definition(), request.settings());
        RepositoryFiles files =
                RepositoryFiles.find(request.definition().toAbsolutePath().getParent());
        Shard shard = request.shard().map(Shard::parse).orElse(Shard.WHOLE);
        TraceLibrary.verify(definition.trace(), files);
        request.repetition()
                .ifPresent(repetition -> CellSettings.require(
                        repetition >= 1 && repetition <= definition.repetitions(),
                        "--repetition",
                        repetition,
                        "1 to " + definition.repetitions()));
        RunOptions options = new RunOptions(request.out(), request.resume(), shard, request.repetition());
        if (definition.freshProcesses() && request.repetition().isEmpty() && !request.dryRun()) {
            RunOutcome outcome = new RepetitionProcesses(definition, processes, rows.folder())
                    .run(request, RunDirectory.open(options, definition, files, Clock.systemUTC()));
            print(request, definition, outcome);
            return outcome.isSuccess();
        }
        try (CellBackend backend = factory.create(definition, new TraceLibrary(definition.trace(), files))) {
            if (request.dryRun()) {
                list(shard.of(definition.cells()), definition.repetitions(), backend, request.json());
                return true;
            }
            ExperimentRunner runner = new ExperimentRunner(
                    definition,
                    backend,
                    finished -> new RunReport(definition, finished).write(notices),
                    files,
                    notices,
                    Clock.systemUTC());
            RunOutcome outcome = runner.run(options);
            print(request, definition, outcome);
            return outcome.isSuccess();
        }
    }

    private void print(Request request, Definition definition, RunOutcome outcome) throws IOException {
        out.print(request.json() ? RunJson.of(definition, outcome) : new RunReport(definition, outcome).summary());
    }

    private BackendFactory backend(String name) {
        return switch (name) {
            case "auto", "model" -> ModelBackend::new;
            case "java" -> JavaBackend::new;
            case "cuda" ->
                (definition, traces) -> {
                    CudaBackend measured = new CudaBackend(definition, traces, rows);
                    return definition.cells().stream()
                                    .allMatch(cell -> cell.device().isEmpty())
                            ? measured
                            : new MixedBackend(measured, new ModelBackend(definition, traces));
                };
            default ->
                throw new BadInputException("--backend " + name + ": expected one of " + String.join(", ", BACKENDS));
        };
    }

    private void list(List<Cell> cells, int repetitions, CellBackend backend, boolean json) throws IOException {
        long simulations = cells.stream().map(Cell::simulationKey).distinct().count();
        if (json) {
            out.print(RunJson.of(cells, repetitions, simulations, backend));
            return;
        }
        cells.forEach(cell -> out.println(cell.id()));
        out.println(String.format(
                Locale.ROOT,
                "%d cells x %d repetitions, %d simulations, backend %s, about %.0f s%s",
                cells.size(),
                repetitions,
                simulations,
                backend.name(),
                backend.estimateSeconds(cells),
                backend.estimated()));
    }
}
