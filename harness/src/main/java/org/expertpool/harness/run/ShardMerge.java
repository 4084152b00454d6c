package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.record.CodeHash;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.BadInputException;

/**
 * Puts the finished shards of one experiment together, as if one run had made them: the rows in the order of an
 * unsharded run, cells taken apart, checks over all rows, figures and README. Everything is judged before anything is written.
 */
public final class ShardMerge {
    private static final ObjectMapper JSON = new ObjectMapper();

    private record Part(Path directory, Shard shard, ObjectNode environment, String definition, List<ResultRow> rows) {}

    private final PrintStream out;
    private final PrintStream notices;
    private final boolean json;

    /** {@code json}: print {@link RunJson} instead of the summary. */
    public ShardMerge(PrintStream out, PrintStream notices, boolean json) {
        this.out = out;
        this.notices = notices;
        this.json = json;
    }

    /**
     * Merges shards 1 to n, given in any order, into a new folder; false if a cell or a check failed.
     *
     * @throws BadInputException a folder is no finished shard, shards are of different runs, or one is missing
     */
    public boolean merge(List<Path> directories, Path target) throws IOException {
        Map<Integer, Part> parts = parts(directories);
        Part first = parts.get(1);
        Definition definition = DefinitionReader.read(first.directory().resolve(RunDirectory.DEFINITION), List.of());
        List<ResultRow> rows = rows(definition, parts.values());
        List<Table> details = MergedDetails.of(
                definition.cells(), parts.values().stream().map(Part::directory).toList());
        sayWhereCodeDiffers(parts.values());
        try (RunDirectory directory = RunDirectory.start(target, definition)) {
            for (ResultRow row : rows) {
                directory.results().append(row);
            }
            for (Part part : parts.values()) {
                for (JsonNode session : part.environment().withArray(RunDirectory.SESSIONS)) {
                    directory.addSession((ObjectNode) session);
                }
            }
            directory.writeDetails(details);
            RunOutcome outcome = RunOutcome.of(target, definition, rows);
            RunReport report = new RunReport(definition, outcome);
            report.write(notices);
            directory.finish(definition, environment(definition, outcome, parts.values()));
            out.print(json ? RunJson.of(definition, outcome) : report.summary());
            return outcome.isSuccess();
        }
    }

    private static Map<Integer, Part> parts(List<Path> directories) throws IOException {
        Map<Integer, Part> parts = new TreeMap<>();
        Part first = null;
        for (Path directory : directories) {
            Part part = read(directory);
            first = first == null ? part : first;
            if (part.shard().count() != first.shard().count()) {
                throw new BadInputException(directory + ": is shard " + part.shard() + ", expected one of "
                        + first.shard().count() + " as " + first.directory());
            }
            if (!part.definition().equals(first.definition())) {
                throw new BadInputException(directory + ": its definition differs from that of " + first.directory()
                        + ", expected shards of one run: the same file and --set values");
            }
            Part twice = parts.put(part.shard().index(), part);
            if (twice != null) {
                throw new BadInputException(
                        directory + ": is shard " + part.shard() + ", expected once, but so is " + twice.directory());
            }
        }
        for (int index = 1; first != null && index <= first.shard().count(); index++) {
            if (!parts.containsKey(index)) {
                throw new BadInputException("shard " + index + "/"
                        + first.shard().count() + " is missing, expected all "
                        + first.shard().count()
                        + " shards");
            }
        }
        return parts;
    }

    private static Part read(Path directory) throws IOException {
        if (!RunDirectory.isFinished(directory)) {
            throw new BadInputException(
                    directory + ": holds no finished run, expected a shard that came to its end (run --resume)");
        }
        Path file = directory.resolve(RunDirectory.ENVIRONMENT);
        JsonNode environment = JSON.readTree(file.toFile());
        JsonNode shard = environment.path("shard");
        if (!(environment instanceof ObjectNode object) || !shard.isTextual()) {
            throw new BadInputException(file + ": names no shard, expected the environment of a run");
        }
        String definition = Files.readString(directory.resolve(RunDirectory.DEFINITION));
        return new Part(
                directory, Shard.parse(shard.asText()), object, definition, ResultsCsv.readDirectory(directory));
    }

    /** All rows in the order of an unsharded run: reported figures, then cell by cell and repetition by repetition. */
    private static List<ResultRow> rows(Definition definition, Iterable<Part> parts) {
        List<ResultRow> rows = new ArrayList<>();
        Map<String, ResultRow> measured = new TreeMap<>();
        for (Part part : parts) {
            for (ResultRow row : part.rows()) {
                if (row.text("basis").equals("reported")) {
                    rows.add(row);
                } else if (measured.put(key(row.text("cell"), row.text("repetition")), row) != null) {
                    throw new BadInputException(part.directory() + ": has cell " + row.text("cell")
                            + " again, expected each cell in one shard");
                }
            }
        }
        for (Cell cell : definition.cells()) {
            for (int repetition = 1; repetition <= definition.repetitions(); repetition++) {
                ResultRow row = measured.remove(key(cell.id(), Integer.toString(repetition)));
                if (row == null) {
                    throw new BadInputException("no shard has repetition " + repetition + " of cell " + cell.id()
                            + ", expected all cells of the definition");
                }
                rows.add(row);
            }
        }
        if (!measured.isEmpty()) {
            throw new BadInputException("the shards have " + measured.size() + " rows that the definition has no cell "
                    + "for, expected none; the first is "
                    + measured.keySet().iterator().next());
        }
        return rows;
    }

    private static String key(String cell, String repetition) {
        return cell + "#" + repetition;
    }

    private void sayWhereCodeDiffers(Iterable<Part> parts) {
        Optional<String> code = Optional.empty();
        for (Part part : parts) {
            String own = part.environment().path("code").toString();
            if (code.isPresent() && !code.get().equals(own)) {
                notices.println(part.directory() + ": ran other code than the first shard; see environment.json");
            }
            code = Optional.of(code.orElse(own));
        }
    }

    private static ObjectNode environment(Definition definition, RunOutcome outcome, Iterable<Part> parts) {
        ObjectNode environment = JsonNodeFactory.instance.objectNode();
        environment.put("experiment", definition.name());
        environment.put("definition_sha256", CodeHash.ofText(definition.text()));
        environment.put("shard", Shard.WHOLE.toString());
        environment.put("exit_status", outcome.isSuccess() ? 0 : 1);
        ArrayNode shards = environment.putArray("merged_from");
        for (Part part : parts) {
            ObjectNode own = part.environment().deepCopy();
            own.remove(RunDirectory.SESSIONS);
            shards.add(own);
        }
        return environment;
    }
}
