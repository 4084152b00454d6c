package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/**
 * A measured row of one token a forward, engine {@code resident}, {@code pool} or {@code uva}, nothing or dense reads
 * beside the experts.
 *
 * @param directory the run that it stands in
 * @param steps exact counts of its layer calls, simulated anew; not a pool's: one call without a miss
 */
record MeasuredDecode(Path directory, ResultRow row, Cell cell, ModelGeometry model, StepHistogram steps) {
    private static final double MICROS_PER_MILLI = 1e3;

    /**
     * All such rows of finished runs.
     *
     * @throws BadInputException a folder without results and definition, or no such row in all of them
     */
    static List<MeasuredDecode> read(List<Path> directories) throws IOException {
        List<MeasuredDecode> found = new ArrayList<>();
        for (Path directory : directories) {
            read(directory, found);
        }
        if (found.isEmpty()) {
            throw new BadInputException(
                    String.join(", ", directories.stream().map(Path::toString).toList())
                            + ": no measured decode cell of one token a forward, expected some");
        }
        return found;
    }

    private static void read(Path directory, List<MeasuredDecode> found) throws IOException {
        Path file = directory.resolve(RunDirectory.DEFINITION);
        if (!Files.exists(file)) {
            throw new BadInputException(
                    directory + ": holds no " + RunDirectory.DEFINITION + ", expected a finished run");
        }
        Definition definition = DefinitionReader.read(file, List.of());
        RepositoryFiles files = RepositoryFiles.find(directory);
        ModelGeometry model = ModelWeights.of(definition.model(), definition.activations(), files)
                .geometry();
        CellCounts counts = new CellCounts(definition, model);
        try (TraceLibrary traces = new TraceLibrary(definition.trace(), files)) {
            for (ResultRow row : ResultsCsv.readDirectory(directory)) {
                Optional<Cell> cell = definition.cell(row.text("cell"));
                if (cell.isPresent()
                        && row.isOk()
                        && row.text("basis").equals("measured")
                        && row.number("decode_ms_per_token").isPresent()
                        && isModelled(cell.get())) {
                    StepHistogram steps = steps(cell.get(), model, counts, traces);
                    found.add(new MeasuredDecode(directory, row, cell.get(), model, steps));
                }
            }
        }
    }

    private static boolean isModelled(Cell cell) {
        boolean known = cell.isPool() || List.of(Axis.RESIDENT, Axis.UVA).contains(cell.engine());
        return known
                && List.of(Axis.NO_REST, Axis.DENSE).contains(cell.rest())
                && cell.ple().equals(Axis.NO_ROWS)
                && cell.streams().orElse(1) == 1
                && cell.inputTokens().isEmpty()
                && cell.decodeTokens() == 1;
    }

    private static StepHistogram steps(Cell cell, ModelGeometry model, CellCounts counts, TraceLibrary traces)
            throws IOException {
        if (cell.isPool()) {
            return counts.simulate(cell, traces.open(cell)).steps();
        }
        StepHistogram one = new StepHistogram(model.topK());
        one.add(model.topK(), 0);
        return one;
    }

    GraphMode graphMode() {
        return cell.graphMode().orElse(GraphMode.FULL_DECODE);
    }

    /** Layers whose rows all lie on the host; a pool's and those of resident experts: none. */
    int hostLayers() {
        double layerBytes = (double) model.allExpertBytes() / model.layers();
        return cell.engine().equals(Axis.UVA)
                ? model.layers() - (int) Math.round(row.number("bank_bytes").orElse(0) / layerBytes)
                : 0;
    }

    double micros() {
        return row.number("decode_ms_per_token").orElseThrow() * MICROS_PER_MILLI;
    }
}
