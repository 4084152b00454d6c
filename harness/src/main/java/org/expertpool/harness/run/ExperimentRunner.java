package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.expertpool.harness.record.CodeHash;
import org.expertpool.harness.record.Environment;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;

/**
 * Runs the cells of an experiment one after the other and writes each row as it ends, whatever came of it. A run that
 * was stopped goes on where it stopped; a row that stands in the file is never computed again.
 */
final class ExperimentRunner {
    private record Work(Cell cell, int repetition) {
        String key() {
            return rowKey(cell.id(), Integer.toString(repetition));
        }
    }

    /** Writes what a reader gets of a run into its folder: figures, README. */
    @FunctionalInterface
    interface ReportWriter {
        void write(RunOutcome outcome) throws IOException;
    }

    private final Definition definition;
    private final CellBackend backend;
    private final ReportWriter report;
    private final RepositoryFiles files;
    private final PrintStream notices;
    private final Clock clock;

    ExperimentRunner(
            Definition definition,
            CellBackend backend,
            ReportWriter report,
            RepositoryFiles files,
            PrintStream notices,
            Clock clock) {
        this.definition = definition;
        this.backend = backend;
        this.report = report;
        this.files = files;
        this.notices = notices;
        this.clock = clock;
    }

    RunOutcome run(RunOptions options) throws IOException {
        List<ResultRow> reported = options.shard().isFirst()
                ? ReportedFigures.select(files.reportedFigures(), definition.name(), definition.reported())
                : List.of();
        try (RunDirectory directory = RunDirectory.open(options, definition, files, clock)) {
            requireOwn(directory, options.shard());
            List<Work> work = remaining(options, directory.results().rows());
            if (work.isEmpty() && directory.isFinished()) {
                notices.println(directory.path() + ": nothing left to do");
                return outcome(directory);
            }
            Instant start = clock.instant();
            directory.addSession(session(options, start));
            appendReported(directory.results(), reported);
            boolean ended = !runCells(directory.results(), work);
            RunOutcome outcome = outcome(directory);
            if (!ended) {
                takeApart(directory, options.shard());
            }
            report.write(outcome);
            directory.finish(definition, environment(options, outcome, start));
            return outcome;
        }
    }

    /** What another backend or another shard made stays out of this run: its environment tells of one of each. */
    private void requireOwn(RunDirectory directory, Shard shard) {
        Map<String, Cell> own = shard.of(definition.cells()).stream().collect(Collectors.toMap(Cell::id, cell -> cell));
        for (ResultRow row : directory.results().rows()) {
            if (row.text("basis").equals("reported")) {
                continue;
            }
            Cell cell = own.get(row.text("cell"));
            if (cell == null) {
                throw new BadInputException(directory.path() + ": has cell " + row.text("cell") + ", which shard "
                        + shard + " has not, expected that shard's own directory");
            }
            String by = backend.of(cell).name();
            if (!row.text("backend").equals(by)) {
                throw new BadInputException(directory.path() + ": cell " + cell.id() + " was run by --backend "
                        + row.text("backend") + ", expected the same to go on with it, not " + by);
            }
        }
    }

    private List<Work> remaining(RunOptions options, List<ResultRow> rows) {
        Set<String> done = rows.stream()
                .map(row -> rowKey(row.text("cell"), row.text("repetition")))
                .collect(Collectors.toCollection(HashSet::new));
        List<Work> work = new ArrayList<>();
        for (Cell cell : options.shard().of(definition.cells())) {
            for (int repetition = 1; repetition <= definition.repetitions(); repetition++) {
                Work next = new Work(cell, repetition);
                if (options.includes(repetition) && !done.contains(next.key())) {
                    work.add(next);
                }
            }
        }
        return work;
    }

    private static String rowKey(String cell, String repetition) {
        return cell + "#" + repetition;
    }

    private static void appendReported(ResultsFile results, List<ResultRow> reported) throws IOException {
        Set<String> present =
                results.rows().stream().map(row -> row.text("cell")).collect(Collectors.toSet());
        for (ResultRow row : reported) {
            if (!present.contains(row.text("cell"))) {
                results.append(row);
            }
        }
    }

    /** False where the run ended before its last cell. */
    private boolean runCells(ResultsFile results, List<Work> work) throws IOException {
        backend.prepare(work.stream().map(Work::cell).distinct().toList());
        try (Progress progress = new Progress(notices, Progress.standardErrorIsTerminal(), work.size(), clock)) {
            for (Work next : work) {
                try {
                    results.append(row(next));
                } catch (RunEndedException lost) {
                    results.append(withoutMetrics(next, "failed", lost));
                    notices.println("the run ended with cell " + next.key() + ": " + lost.getMessage()
                            + "; --resume goes on with what is left");
                    return false;
                }
                progress.advance(next.cell().id());
            }
        }
        return true;
    }

    private void takeApart(RunDirectory directory, Shard shard) throws IOException {
        if (definition.details().isEmpty()) {
            return;
        }
        Details details = definition.details().get();
        Set<String> chosen = directory.results().rows().stream()
                .filter(details.where()::selects)
                .map(row -> row.text("cell"))
                .collect(Collectors.toSet());
        List<Cell> cells = shard.of(definition.cells()).stream()
                .filter(cell -> chosen.contains(cell.id()))
                .toList();
        directory.writeDetails(backend.details(cells, details.stretchForwards()));
    }

    private ResultRow row(Work work) {
        ResultRow.Builder row = identity(work);
        try {
            backend.measure(work.cell(), work.repetition(), row);
            return row.put("status", "ok").build();
        } catch (SkippedException skipped) {
            return withoutMetrics(work, "skipped", skipped);
        } catch (BadInputException refused) {
            return withoutMetrics(work, "refused", refused);
        } catch (RunEndedException lost) {
            throw lost;
        } catch (IOException | RuntimeException failed) {
            return withoutMetrics(work, "failed", failed);
        }
    }

    private ResultRow withoutMetrics(Work work, String status, Exception reason) {
        String message = reason.getMessage() == null ? reason.getClass().getName() : reason.getMessage();
        return identity(work).put("status", status).put("reason", message).build();
    }

    private ResultRow.Builder identity(Work work) {
        Cell cell = work.cell();
        CellBackend by = backend.of(cell);
        ResultRow.Builder row = ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("experiment", definition.name())
                .put("cell", cell.id())
                .put("repetition", work.repetition())
                .put("basis", by.basis())
                .put("engine", cell.engine())
                .put("backend", by.name())
                .put("device", by.device(cell))
                .put("model", ModelWeights.label(definition.model()))
                .put("trace", definition.trace().label())
                .put("graph_mode", cell.setting(Axis.GRAPH_MODE).orElse(""))
                .put("context", cell.setting(Axis.CONTEXT).orElse(""))
                .put("seed", cell.setting(Axis.SEED).orElse(""))
                .put("window", cell.window())
                .put("controls", controls(cell))
                .put(
                        "activations",
                        definition.activations() == ActivationType.BF16
                                ? ""
                                : definition.activations().label());
        if (cell.isPlaced()) {
            row.put("policy", cell.policy())
                    .put("scope", cell.scope().toString())
                    .put("initial", definition.window(cell).initial().toString())
                    .put("decode_tokens", cell.decodeTokens())
                    .put("partition", cell.setting(Axis.PARTITION).orElse(""))
                    .put("prefill_promote", cell.setting(Axis.PREFILL_PROMOTE).orElse(""));
        }
        if (cell.setting(Axis.ROWS).isPresent()) {
            row.put("rows_per_layer", cell.rows())
                    .put("marked", definition.markedRows().contains(cell.rows()) ? "true" : "");
        }
        cell.setting(Axis.PLE).ifPresent(ple -> row.put("ple", ple));
        cell.memoryBytes().ifPresent(bytes -> row.put("memory_bytes", bytes));
        cell.streams().ifPresent(streams -> row.put("streams", streams));
        cell.inputTokens().ifPresent(tokens -> row.put("input_tokens", tokens).put("chunk_tokens", cell.chunkTokens()));
        return row;
    }

    private static String controls(Cell cell) {
        return cell.controls().entrySet().stream()
                .map(control -> control.getKey() + "=" + control.getValue())
                .collect(Collectors.joining(";"));
    }

    private RunOutcome outcome(RunDirectory directory) {
        return RunOutcome.of(directory.path(), definition, directory.results().rows());
    }

    private ObjectNode session(RunOptions options, Instant start) {
        ObjectNode session = JsonNodeFactory.instance.objectNode();
        session.put("started_utc", start.toString());
        options.repetition().ifPresent(repetition -> session.put("repetition", repetition));
        session.put("host_sha256_12", Environment.hostHash());
        session.put("git_revision", Environment.revision(files.root()).orElse(null));
        return session;
    }

    private ObjectNode environment(RunOptions options, RunOutcome outcome, Instant start) throws IOException {
        ObjectNode environment = JsonNodeFactory.instance.objectNode();
        environment.put("experiment", definition.name());
        environment.put("definition_sha256", CodeHash.ofText(definition.text()));
        environment.put("shard", options.shard().toString());
        environment.put("backend", backend.name());
        environment.put("basis", backend.basis());
        Instant end = clock.instant();
        environment.put("started_utc", start.toString());
        environment.put("ended_utc", end.toString());
        environment.put("duration_s", Duration.between(start, end).toMillis() / 1e3);
        environment.put("exit_status", outcome.isSuccess() ? 0 : 1);
        ObjectNode traces = environment.putObject("traces");
        backend.inputs().forEach(traces::put);
        environment.setAll(backend.machine());
        environment.setAll(Environment.collect(files.root()));
        return environment;
    }
}
