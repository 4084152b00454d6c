package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelPresets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Times chosen so that every part of a layer can be worked out by hand. */
class DecodeBreakdownTest {
    private static final String DEFINITION = """
            name = "made"
            question = "Where does it go?"
            expectation = "There."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 60

            [window.warm]
            initial = "first-n"
            score_from = 20

            [axes]
            window = "warm"

            [[matrix]]
            engine = "resident"
            graph_mode = "full-decode"
            rest = ["none", "dense"]

            [[matrix]]
            policy = "lru"
            rows = 6
            graph_mode = ["none", "full-decode"]
            rest = ["none", "dense"]

            [protocol]
            repetitions = 3
            """;
    private static final String HEADER = "engine,mode,tokens,misses,median_us_per_layer\n";
    // 50 us a miss; other widths and modes are not looked at.
    private static final String LINEAR = HEADER + "resident,graph,1,,20\nresident,graph,8,,77\nresident,eager,1,,23\n"
            + "pool,graph,1,0,24\npool,graph,1,1,74\npool,graph,1,3,174\npool,eager,1,1,99\n";
    private static final int LAYERS = ModelPresets.load("tiny").layers();

    @TempDir
    private Path folder;

    private Path layers;

    @BeforeEach
    void writeRun() throws IOException {
        Definition definition = Definitions.read(folder, DEFINITION);
        Files.writeString(folder.resolve("definition.toml"), DEFINITION);
        layers = Files.writeString(folder.resolve("layer.csv"), LINEAR);
        write(definition, 20);
    }

    // A layer takes hits, 30 more beside dense reads, 60 more in a pool, 7 more without a graph.
    private void write(Definition definition, double hits) throws IOException {
        Files.deleteIfExists(folder.resolve("results.csv"));
        try (ResultsFile results = ResultsFile.create(folder.resolve("results.csv"))) {
            for (Cell cell : definition.cells()) {
                double micros = hits
                        + (cell.rest().equals(Axis.DENSE) ? 30 : 0)
                        + (cell.isPool() ? 60 : 0)
                        + (cell.setting(Axis.GRAPH_MODE).orElseThrow().equals("none") ? 7 : 0);
                int repetition = 0;
                for (double noise : new double[] {-3, 0, 9}) { // the median is without
                    results.append(row(cell, ++repetition, LAYERS * (micros + noise)));
                }
            }
        }
    }

    @Test
    void everyPartIsADifferenceOfMeasurements() throws IOException {
        double misses = missesALayer();
        List<Map<String, Object>> table =
                DecodeBreakdown.of(List.of(folder), layers).maps();
        assertThat(table).hasSize(6);
        Map<String, Object> resident = table.get(1);
        assertThat(resident)
                .containsEntry("measured_us", new BigDecimal("50.0"))
                .containsEntry("dense_us", new BigDecimal("30.0"))
                .containsEntry("hits_us", new BigDecimal("20.0"))
                .containsEntry("other_us", new BigDecimal("0.0"))
                .containsEntry("floor_us", new BigDecimal("50.0"))
                .containsEntry("misses_a_layer", null);
        Map<String, Object> eager = line(table, "graph_mode=none,rest=dense");
        assertThat(eager)
                .containsEntry("measured_us", new BigDecimal("117.0"))
                .containsEntry("dense_us", new BigDecimal("30.0"))
                .containsEntry("planner_us", new BigDecimal("4.0"))
                .containsEntry("launches_us", new BigDecimal("7.0"));
        for (String rest : List.of("none", "dense")) {
            Map<String, Object> pool = line(table, "graph_mode=full-decode,rest=" + rest);
            assertThat(value(pool, "misses_a_layer")).isCloseTo(misses, within(6e-4));
            assertThat(value(pool, "copies_us")).isCloseTo(50 * misses, within(0.06));
            assertThat(value(pool, "other_us")).isCloseTo(60 - 4 - 50 * misses, within(0.06));
            assertThat(pool).containsEntry("launches_us", new BigDecimal("0.0"));
        }
    }

    @Test
    void aCallTakesAtLeastTheLongerOfItsRowsAndItsHits() throws IOException {
        Definition definition = Definitions.read(folder, DEFINITION);
        write(definition, 1000); // longer than any call's rows
        Map<String, Object> hits =
                line(DecodeBreakdown.of(List.of(folder), layers).maps(), "graph_mode=full-decode,rest=dense");
        assertThat(hits)
                .containsEntry("floor_us", new BigDecimal("1030.0"))
                .containsEntry("over_floor_percent", new BigDecimal("5.8")); // 1090 / 1030
        write(definition, 1e-3); // the link alone
        Map<String, Object> link =
                line(DecodeBreakdown.of(List.of(folder), layers).maps(), "graph_mode=full-decode,rest=dense");
        assertThat(value(link, "floor_us")).isCloseTo(30 + 50 * missesALayer(), within(0.06));
    }

    @Test
    void betweenAndBeyondImposedMissesALineLeadsOn() throws IOException {
        LayerTable bent = LayerTable.read(Files.writeString(
                layers, HEADER + "resident,graph,1,,20\npool,graph,1,0,24\npool,graph,1,1,80\npool,graph,1,3,180\n"));
        assertThat(bent.plannerMicros()).isEqualTo(4);
        assertThat(bent.rowMicros()).isEqualTo(50);
        assertThat(List.of(bent.missMicros(0), bent.missMicros(1), bent.missMicros(2), bent.missMicros(4)))
                .containsExactly(0.0, 56.0, 106.0, 206.0);
    }

    @Test
    void theCommandWritesTheTableAndNamesBadInput() throws IOException {
        Path out = folder.resolve("details/parts.csv");
        assertThat(Main.run("breakdown", folder.toString(), "--layers", layers.toString(), "--out", out.toString()))
                .isZero();
        assertThat(Files.readAllLines(out)).hasSize(7).first().asString().startsWith("cell,misses_a_layer,measured_us");
        refused("a,b\n", "line 1: expected columns engine, mode, tokens, misses, median_us_per_layer");
        refused(LINEAR.replace("74", "x"), "line 6: median_us_per_layer is 'x', expected a number");
        refused(HEADER + "pool,graph,1,0,24\npool,graph,1,1,74\npool,graph,1,3,174\n", "resident");
    }

    private void refused(String table, String message) throws IOException {
        Path file = Files.writeString(folder.resolve("bad.csv"), table);
        assertThatThrownBy(() -> DecodeBreakdown.of(List.of(folder), file))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining(message);
    }

    private static double missesALayer() {
        SimulationRequest request = SimulationRequest.of(List.of("evict.lru"), List.of(6))
                .withScore(ScoreWindow.forwards(20, Long.MAX_VALUE));
        SimulationResult counted = Simulator.simulate(SyntheticTraces.preset("tiny", 60, 1), request)
                .get(0);
        return (double) counted.misses() / (counted.forwards() * LAYERS);
    }

    private static double value(Map<String, Object> line, String part) {
        return ((BigDecimal) line.get(part)).doubleValue();
    }

    private static Map<String, Object> line(List<Map<String, Object>> table, String of) {
        return table.stream()
                .filter(line -> line.get("cell").toString().startsWith("engine=pool"))
                .filter(line -> line.get("cell").toString().contains(of))
                .findFirst()
                .orElseThrow();
    }

    private static ResultRow row(Cell cell, int repetition, double micros) {
        return ResultRow.builder()
                .put("schema", 1)
                .put("experiment", "made")
                .put("cell", cell.id())
                .put("repetition", repetition)
                .put("status", "ok")
                .put("basis", "measured")
                .put("engine", cell.engine())
                .put("decode_ms_per_token", micros / 1e3)
                .build();
    }
}
