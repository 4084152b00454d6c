package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.BadInputException;

/**
 * The repetitions of a run, one process after the other in one folder: what a process happens to get, such as its memory and
 * its compiled code, is in their spread. A process goes on where the one before ended; this one measures nothing.
 */
final class RepetitionProcesses {
    private static final int CELL_OR_CHECK_FAILED = 1;
    private static final int BAD_INPUT = 2;

    private final Definition definition;
    private final RunProcess processes;
    private final Optional<Path> hostRows;

    /** {@code hostRows}: folder in which the processes share expert rows. */
    RepetitionProcesses(Definition definition, RunProcess processes, Optional<Path> hostRows) {
        this.definition = definition;
        this.processes = processes;
        this.hostRows = hostRows;
    }

    /** Runs them in this folder, which is closed: it is theirs in turn. */
    RunOutcome run(Experiments.Request request, RunDirectory folder) throws IOException {
        Path path = folder.path();
        folder.close();
        for (int repetition = 1; repetition <= definition.repetitions(); repetition++) {
            int exit = processes.run(arguments(request, path, repetition));
            String ended = "repetition " + repetition + ": its process ended with exit code " + exit;
            if (exit == BAD_INPUT) {
                throw new BadInputException(ended + ", expected input that it takes");
            }
            if (exit != 0 && exit != CELL_OR_CHECK_FAILED) {
                throw new IOException(ended + "; --resume goes on with what is left");
            }
        }
        return RunOutcome.of(path, definition, ResultsCsv.readDirectory(path));
    }

    private List<String> arguments(Experiments.Request request, Path out, int repetition) {
        List<String> arguments =
                new ArrayList<>(List.of("run", request.definition().toString()));
        arguments.addAll(List.of("--backend", request.backend(), "--out", out.toString(), "--resume"));
        arguments.addAll(List.of("--repetition", Integer.toString(repetition)));
        request.shard().ifPresent(shard -> arguments.addAll(List.of("--shard", shard)));
        request.settings().forEach(setting -> arguments.addAll(List.of("--set", setting)));
        hostRows.ifPresent(rows -> arguments.addAll(List.of("--host-rows", rows.toString())));
        return arguments;
    }
}
