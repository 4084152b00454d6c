package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.NumberedFolders;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * The folder of one run. While the run is under way it holds {@code results.csv}, which is also the lock, and two
 * hidden files that a resume needs: the definition, and the sessions so far. {@link #finish} puts the definition and
 * the environment in their places and removes the hidden ones.
 */
final class RunDirectory implements AutoCloseable {
    static final String DEFINITION = "definition.toml";
    static final String ENVIRONMENT = "environment.json";
    static final String DETAILS = "details";
    private static final String HIDDEN_DEFINITION = ".definition.toml";
    private static final String HIDDEN_SESSIONS = ".sessions.json";
    static final String SESSIONS = "sessions";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path path;
    private final ResultsFile results;

    private RunDirectory(Path path, ResultsFile results) {
        this.path = path;
        this.results = results;
    }

    /** Starts the run, or goes on with it, in the folder that the options say or mean. */
    static RunDirectory open(RunOptions options, Definition definition, RepositoryFiles files, Clock clock)
            throws IOException {
        Path parent = files.results(definition.name());
        if (options.resume()) {
            if (options.out().isEmpty() && !options.shard().equals(Shard.WHOLE)) {
                throw new BadInputException("--resume with --shard: expected --out DIR, the shard's own directory");
            }
            Optional<Path> path = options.out().isPresent() ? options.out() : NumberedFolders.newest(parent);
            if (path.isPresent()) {
                return resume(path.get(), definition);
            }
        }
        LocalDate today = LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
        Path path = options.out().isPresent() ? options.out().get() : NumberedFolders.create(parent, today);
        return start(path, definition);
    }

    /** Starts a run in a folder that is absent or empty. */
    static RunDirectory start(Path path, Definition definition) throws IOException {
        if (Files.exists(path) && !Files.isDirectory(path)) {
            throw new BadInputException(path + ": is a file, expected a new directory");
        }
        Files.createDirectories(path);
        if (!isEmpty(path)) {
            throw new BadInputException(
                    path + ": is not empty, expected a new directory, or --resume to go on with the run in it");
        }
        ResultsFile results = ResultsFile.create(path.resolve(ResultsSchema.FILE_NAME));
        return begin(new RunDirectory(path, results), definition);
    }

    /** Goes on with a run of the same definition, or starts one where the folder is absent or empty. */
    static RunDirectory resume(Path path, Definition definition) throws IOException {
        if (!Files.isDirectory(path) || isEmpty(path)) {
            return start(path, definition);
        }
        if (!Files.exists(path.resolve(ResultsSchema.FILE_NAME))) {
            throw new BadInputException(path + ": holds no " + ResultsSchema.FILE_NAME
                    + ", expected a run to resume or an empty directory");
        }
        ResultsFile results = ResultsFile.resume(path.resolve(ResultsSchema.FILE_NAME));
        RunDirectory directory = new RunDirectory(path, results);
        try {
            directory.requireSame(definition);
            return begin(directory, definition);
        } catch (IOException | RuntimeException failure) {
            results.close();
            throw failure;
        }
    }

    // A killed process may leave temporary files of its atomic writes; the lock is ours, so nobody is writing them.
    private void removeTemporaryFiles() throws IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(path, ".*.tmp")) {
            for (Path file : left) {
                Files.delete(file);
            }
        }
    }

    // Nothing but a header has been written before the hidden definition: a run killed in between just starts anew.
    private static RunDirectory begin(RunDirectory directory, Definition definition) throws IOException {
        directory.removeTemporaryFiles();
        if (directory.storedDefinition().isEmpty()) {
            write(directory.path.resolve(HIDDEN_DEFINITION), definition.text());
        }
        return directory;
    }

    private static boolean isEmpty(Path path) throws IOException {
        try (Stream<Path> content = Files.list(path)) {
            return content.findAny().isEmpty();
        }
    }

    private Optional<Path> storedDefinition() {
        return Stream.of(HIDDEN_DEFINITION, DEFINITION)
                .map(path::resolve)
                .filter(Files::exists)
                .findFirst();
    }

    private void requireSame(Definition definition) throws IOException {
        Optional<Path> stored = storedDefinition();
        if (stored.isEmpty() && !results.rows().isEmpty()) {
            throw new BadInputException(path + ": holds results without their definition, expected a run to resume");
        }
        if (stored.isPresent() && !Files.readString(stored.get()).equals(definition.text())) {
            throw new BadInputException(
                    path + ": is a run of another version of the definition, expected the same file and --set values");
        }
    }

    Path path() {
        return path;
    }

    ResultsFile results() {
        return results;
    }

    /** Whether the run came to its end before. */
    boolean isFinished() {
        return isFinished(path);
    }

    /** Whether the folder holds a run that came to its end. */
    static boolean isFinished(Path path) {
        return Files.exists(path.resolve(ENVIRONMENT)) && !Files.exists(path.resolve(HIDDEN_DEFINITION));
    }

    /** Notes that a process works on the run from now on: a resumed run has several sessions. */
    void addSession(ObjectNode session) throws IOException {
        ArrayNode sessions = sessions();
        sessions.add(session);
        write(path.resolve(HIDDEN_SESSIONS), sessions.toString());
    }

    private ArrayNode sessions() throws IOException {
        Path hidden = path.resolve(HIDDEN_SESSIONS);
        if (Files.exists(hidden)) {
            return (ArrayNode) JSON.readTree(Files.readString(hidden));
        }
        Path environment = path.resolve(ENVIRONMENT);
        return Files.exists(environment)
                ? JSON.readTree(Files.readString(environment)).withArray(SESSIONS)
                : JSON.createArrayNode();
    }

    /** Writes a CSV file per table that has lines. */
    void writeDetails(List<Table> tables) throws IOException {
        for (Table table : tables) {
            if (!table.rows().isEmpty()) {
                Files.createDirectories(path.resolve(DETAILS));
                write(path.resolve(DETAILS).resolve(table.name() + ".csv"), table.csv());
            }
        }
    }

    /** Puts environment and definition in their places; the run is over. */
    void finish(Definition definition, ObjectNode environment) throws IOException {
        environment.set(SESSIONS, sessions());
        write(path.resolve(ENVIRONMENT), JSON.writerWithDefaultPrettyPrinter().writeValueAsString(environment) + "\n");
        write(path.resolve(DEFINITION), definition.text());
        Files.deleteIfExists(path.resolve(HIDDEN_SESSIONS));
        Files.deleteIfExists(path.resolve(HIDDEN_DEFINITION));
    }

    private static void write(Path file, String text) throws IOException {
        AtomicFile.write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        results.close();
    }
}
