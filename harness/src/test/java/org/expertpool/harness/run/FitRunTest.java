package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.cost.ProfileConstant;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fits over runs: times that a known profile makes stand in results, and that profile comes out again. */
class FitRunTest {
    private static final String DEFINITION = """
            name = "made"
            question = "Is the profile found?"
            expectation = "Yes."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 200

            [window.warm]
            initial = "first-n"
            score_from = 50

            [axes]
            window = "warm"
            graph_mode = "full-decode"

            [[matrix]]
            engine = "resident"

            [[matrix]]
            policy = "lru"
            rows = [5, 7, 9, 12]

            [[matrix]]
            engine = "uva"
            memory = "1KiB"

            [[matrix]]
            policy = "lru"
            rows = [9]
            streams = [2]
            decode_tokens = 2
            """;

    private static final DeviceProfile TRUTH = DeviceProfile.load("h200")
            .with(Map.of("overlap_us", made(3), "moe_fixed_us", made(17), "zero_copy_gb_per_s", made(44)));

    private static final ModelGeometry TINY = ModelPresets.load("tiny");
    private static final int UVA_LAYERS = 1; // of the layers on the host

    @TempDir
    Path folder;

    private static ProfileConstant made(double value) {
        return new ProfileConstant(value, ProfileConstant.Kind.ASSUMED, "made up for a test");
    }

    @BeforeEach
    void writeRun() throws IOException {
        Definition definition = Definitions.read(folder, DEFINITION);
        Files.writeString(folder.resolve("definition.toml"), DEFINITION);
        try (ResultsFile results = ResultsFile.create(folder.resolve("results.csv"))) {
            for (Cell cell : definition.cells()) {
                results.append(row(cell, "measured", "ok", micros(cell)));
            }
            results.append(row(definition.cells().get(1), "modelled", "ok", 1));
            results.append(row(definition.cells().get(1), "measured", "failed", 1));
        }
    }

    private static double micros(Cell cell) {
        CostModel cost = new CostModel(ModelPresets.load("tiny"), TRUTH, CostModel.Beside.NOTHING);
        StepHistogram steps = new StepHistogram(4);
        if (cell.isPool()) {
            SimulationRequest request = SimulationRequest.of(List.of("evict.lru"), List.of(cell.rows()))
                    .withScore(ScoreWindow.forwards(50, Long.MAX_VALUE));
            steps = Simulator.simulate(SyntheticTraces.preset("tiny", 200, 1), request)
                    .get(0)
                    .steps();
        } else {
            steps.add(4, 0);
        }
        return cell.isPool()
                ? cost.decodeMicros(GraphMode.FULL_DECODE, steps, 0)
                : cost.uvaDecodeMicros(GraphMode.FULL_DECODE, cell.engine().equals("uva") ? UVA_LAYERS : 0, 0);
    }

    private static ResultRow row(Cell cell, String basis, String status, double micros) {
        return ResultRow.builder()
                .put("schema", 1)
                .put("experiment", "made")
                .put("cell", cell.id())
                .put("repetition", 1)
                .put("status", status)
                .put("basis", basis)
                .put("engine", cell.engine())
                .put("bank_bytes", (TINY.layers() - UVA_LAYERS) * TINY.allExpertBytes() / TINY.layers())
                .put("step_p50_us", 5)
                .put("decode_ms_per_token", micros / 1e3)
                .build();
    }

    @Test
    void takesMeasuredCellsOfOneTokenAndFindsTheirProfile() throws IOException {
        FitRun run = FitRun.of(List.of(folder));
        assertThat(run.size()).isEqualTo(6);
        assertThat(run.worst(TRUTH)).isLessThan(1e-6);
        DeviceProfile start =
                TRUTH.with(Map.of("overlap_us", made(1), "moe_fixed_us", made(28), "zero_copy_gb_per_s", made(51.2)));
        assertThat(run.worst(start)).isGreaterThan(0.1);
        DeviceProfile fitted = run.fit(start, List.of("overlap_us", "moe_fixed_us", "zero_copy_gb_per_s"), "a test");
        assertThat(run.worst(fitted)).isLessThan(1e-4);
        assertThat(fitted.value("moe_fixed_us")).isCloseTo(17, within(0.01));

        Path out = folder.resolve("out");
        run.write(out, fitted, "own", "a test");
        assertThat(DeviceProfile.load(out.resolve("profile.toml").toString()).value("moe_fixed_us"))
                .isCloseTo(17, within(0.01));
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows).hasSize(12);
        for (int i = 0; i < rows.size(); i += 2) {
            ResultRow modelled = rows.get(i + 1);
            assertThat(modelled.text("basis")).isEqualTo("modelled");
            assertThat(modelled.text("device")).isEqualTo("own");
            assertThat(modelled.text("cell")).isEqualTo(rows.get(i).text("cell"));
            assertThat(modelled.get("step_p50_us")).isEmpty();
            double measured = rows.get(i).number("decode_ms_per_token").orElseThrow();
            assertThat(modelled.number("decode_ms_per_token").orElseThrow())
                    .isCloseTo(measured, within(1e-4 * measured));
        }
    }

    @Test
    void aProfileThatIsJudgedAsItIsKeepsItsNameAndCellsThatOfTheirRun() throws IOException {
        Path profile = Files.writeString(folder.resolve("truth.toml"), TRUTH.toml("truth", "nothing"));
        Path out = folder.resolve("judged");
        assertThat(FitRun.of(List.of(folder)).table(TRUTH))
                .contains("| made/" + folder.getFileName() + " "
                        + ResultsCsv.readDirectory(folder).get(0).text("cell"));
        assertThat(Main.run(
                        "fit",
                        folder.toString(),
                        "--profile",
                        profile.toString(),
                        "--within",
                        "0.01",
                        "--out",
                        out.toString()))
                .isZero();
        assertThat(ResultsCsv.readDirectory(out))
                .filteredOn(row -> row.text("basis").equals("modelled"))
                .hasSize(6)
                .allMatch(row -> row.text("device").equals("truth"));
    }

    @Test
    void saysWhereThereIsNothingToFit() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        assertThatThrownBy(() -> FitRun.of(List.of(empty)))
                .isInstanceOf(BadInputException.class)
                .hasMessage(empty + ": holds no definition.toml, expected a finished run");
    }
}
