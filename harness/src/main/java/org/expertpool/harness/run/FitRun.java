package org.expertpool.harness.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.ProfileFit;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;

/**
 * Measured decode cells of finished runs beside what a device profile makes of their exact counts, with some of its
 * constants fitted to them: cells of one token a forward, engines {@code resident}, {@code pool} and {@code uva}, nothing or dense
 * reads beside the experts.
 */
public final class FitRun {
    /** The profile's file in a fit's folder; the rows are in results.csv. */
    public static final String PROFILE = "profile.toml";

    private static final double MICROS_PER_MILLI = 1e3;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double PERCENT = 100;

    private record Measured(ResultRow row, ProfileFit.Observation observation) {}

    private final List<Measured> cells;

    private FitRun(List<Measured> cells) {
        this.cells = cells;
    }

    /**
     * Reads the measured cells of runs; their traces are made again to count.
     *
     * @throws BadInputException a folder without results and definition, or no cell in all of them that can be modelled
     */
    public static FitRun of(List<Path> directories) throws IOException {
        return new FitRun(
                MeasuredDecode.read(directories).stream().map(FitRun::measured).toList());
    }

    private static Measured measured(MeasuredDecode seen) {
        Cell cell = seen.cell();
        return new Measured(
                seen.row(),
                new ProfileFit.Observation(
                        seen.row().text("experiment") + "/" + seen.directory().getFileName() + " " + cell.id(),
                        seen.micros(),
                        profile -> modelMicros(new CostModel(seen.model(), profile, beside(cell)), seen)));
    }

    private static double modelMicros(CostModel cost, MeasuredDecode seen) {
        long context = seen.cell().contextTokens().orElse(0);
        return seen.cell().isPool()
                ? cost.decodeMicros(seen.graphMode(), seen.steps(), context)
                : cost.uvaDecodeMicros(seen.graphMode(), seen.hostLayers(), context);
    }

    private static CostModel.Beside beside(Cell cell) {
        return cell.rest().equals(Axis.DENSE) ? CostModel.Beside.DENSE_READ : CostModel.Beside.NOTHING;
    }

    /** The profile with the named constants fitted to the cells. */
    public DeviceProfile fit(DeviceProfile start, List<String> free, String source) {
        return ProfileFit.fit(
                start, free, cells.stream().map(Measured::observation).toList(), source);
    }

    /** The largest error of a cell, either way. */
    public double worst(DeviceProfile profile) {
        return cells.stream()
                .mapToDouble(cell -> Math.abs(cell.observation().error(profile)))
                .max()
                .orElseThrow();
    }

    public int size() {
        return cells.size();
    }

    /** A line per cell: measured, modelled, error in percent. */
    public String table(DeviceProfile profile) {
        MarkdownTable table = new MarkdownTable(List.of("cell", "measured_ms", "modelled_ms", "error_percent"));
        for (Measured cell : cells) {
            ProfileFit.Observation seen = cell.observation();
            table.add(List.of(
                    seen.name(),
                    number(seen.measuredMicros() / MICROS_PER_MILLI),
                    number(seen.modelMicros().applyAsDouble(profile) / MICROS_PER_MILLI),
                    String.format(Locale.ROOT, "%+.1f", seen.error(profile) * PERCENT)));
        }
        return table.toString();
    }

    /** Writes the profile, and both rows of each cell in the results schema, into a folder that is empty or not there. */
    public void write(Path folder, DeviceProfile profile, String name, String fittedOn) throws IOException {
        Files.createDirectories(folder);
        try (ResultsFile results = ResultsFile.create(folder.resolve(ResultsSchema.FILE_NAME))) {
            for (Measured cell : cells) {
                results.append(cell.row());
                results.append(modelled(cell, profile, name));
            }
        } catch (UncheckedIOException failure) {
            throw failure.getCause();
        }
        AtomicFile.write(folder.resolve(PROFILE), profile.toml(name, fittedOn).getBytes(StandardCharsets.UTF_8));
    }

    private static ResultRow modelled(Measured cell, DeviceProfile profile, String name) {
        double micros = cell.observation().modelMicros().applyAsDouble(profile);
        ResultRow.Builder row = cell.row().toBuilder()
                .put("basis", "modelled")
                .put("backend", "model")
                .put("device", name)
                .put("decode_tok_per_s", MICROS_PER_SECOND / micros)
                .put("decode_ms_per_token", micros / MICROS_PER_MILLI);
        for (String measuredAlone :
                List.of("step_p50_us", "step_p99_us", "free_bytes_min", "h2d_gb_per_s", "output_sha256")) {
            row.put(measuredAlone, "");
        }
        return row.build();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.4f", value);
    }
}
