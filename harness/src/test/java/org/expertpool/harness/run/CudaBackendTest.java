package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Experiments on the emulated driver, from definition to rows: outputs, counts, and what is left after failures. */
class CudaBackendTest {
    private static final String DEFINITION = """
            name = "device"
            question = "Are outputs equal?"
            expectation = "To the last bit."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 4
            prefill_tokens = 3

            [window.warm]
            initial = "first-n"
            score_from = 1

            [axes]
            seed = [1, 2]
            window = "warm"
            graph_mode = "full-decode"

            [[matrix]]
            engine = "resident"

            [[matrix]]
            policy = "lru"
            rows = [4, 9]

            [[check]]
            name = "as resident"
            where = { basis = "measured" }
            equal = "output_sha256"
            reference = { engine = "resident" }
            per = ["seed"]
            """;
    private static final int CELLS = 6;

    @TempDir
    private Path folder;

    private Path definition;
    private Path out;

    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @BeforeEach
    void setUp() throws IOException {
        definition = Files.writeString(folder.resolve("definition.toml"), DEFINITION);
        out = folder.resolve("out");
    }

    @Test
    void outputsAreThoseOfAllExpertsResidentWhereverTheRowsComeFrom() throws Exception {
        assertThat(run(Map.of()))
                .contains("_ GiB of rows made and pinned in _ s", "_ GiB of rows made in the same memory in _ s")
                .contains("not freed: 0");
        List<String> inMemory = hashes(out);
        assertThat(inMemory).hasSize(CELLS);
        String first = inMemory.get(0); // resident, then the pools, by seed
        String second = inMemory.get(1);
        assertThat(first).isNotEqualTo(second);
        assertThat(inMemory).containsExactly(first, second, first, first, second, second);
        Path kept = Files.createDirectory(folder.resolve("kept"));
        for (int process = 0; process < 2; process++) {
            out = folder.resolve("out" + process);
            List<String> printed = run(Map.of(), kept.toString());
            assertThat(printed.stream()
                            .filter(line -> line.contains(" of rows made in "))
                            .count())
                    .isEqualTo(process == 0 ? 2 : 0);
            assertThat(printed).contains("not freed: 0");
            assertThat(hashes(out)).isEqualTo(inMemory);
        }
    }

    @Test
    void whereMemoryIsShortThatCellFailsAloneAndTheOthersAreAsEver() throws Exception {
        List<String> lines = run(Map.of(
                "EMULATED_FAIL", "cuMemAlloc",
                "EMULATED_FAIL_CODE", "2",
                "EMULATED_FAIL_AFTER", "20",
                "EMULATED_FAIL_TIMES", "1"));
        assertThat(cells(lines).stream().filter(line -> line.contains(": ok"))).hasSize(CELLS - 1);
        assertThat(cells(lines).stream().filter(line -> line.contains(": failed")))
                .singleElement()
                .asString()
                .contains("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
        assertThat(lines).contains("not freed: 0");
    }

    @Test
    void aBallastMakesTheLimitRealForAllThatACellMakes() throws Exception {
        String limited = DEFINITION.replace("seed = [1, 2]", "seed = 1\nmemory = \"MEMORY\"");
        Map<String, String> card = Map.of("EMULATED_MEMORY_BYTES", "8000000");
        Files.writeString(definition, "ballast = true\n" + limited.replace("MEMORY", "430KiB"));
        List<String> cells = cells(run(card));
        assertThat(cells.get(0))
                .startsWith(
                        "engine=resident: refused expert rows take 663552 bytes of device memory, expected at most 439");
        assertThat(cells.get(1)).isEqualTo("engine=pool,rows=4: ok ");
        assertThat(cells.get(2)) // its rows fit, but not the rest
                .startsWith("engine=pool,rows=9: refused memory is 430KiB, expected more: allocate ")
                .endsWith(" device bytes: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
        out = folder.resolve("lifted");
        Files.writeString(
                definition, "ballast = true\nbeyond_memory = \"lift\"\n" + limited.replace("MEMORY", "600KiB"));
        run(card);
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows.stream().map(row -> row.text("note")))
                .containsExactly(
                        "experts alone; limit lifted: the rows take more than memory",
                        "experts alone",
                        "experts alone");
        assertThat(hashes(out)).containsOnly(hashes(out).get(0));
        for (ResultRow row : rows.subList(1, 3)) {
            assertThat(row.number("free_bytes_min").orElseThrow())
                    .isLessThan(600 * 1024 - row.number("bank_bytes").orElseThrow());
        }
    }

    @Test
    void aRunGoesOnWhereOthersTakeAllMemoryThatIsLeft() throws Exception {
        String one = DEFINITION.replace("seed = [1, 2]", "seed = 1");
        Files.writeString(definition, one);
        run(Map.of());
        List<String> undisturbed = hashes(out);
        out = folder.resolve("pressed");
        Files.writeString(definition, "ballast_growth = \"3MiB\"\n" + one);
        assertThat(run(Map.of("EMULATED_MEMORY_BYTES", "4400000"))).contains("not freed: 0");
        assertThat(hashes(out)).isEqualTo(undisturbed);
        assertThat(ResultsCsv.readDirectory(out))
                .allSatisfy(row -> assertThat(row.text("note"))
                        .isEqualTo("experts alone; ballast grown by 3145728 bytes until allocate 3145728 device bytes: "
                                + "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)"));
    }

    @Test
    void whereTheDeviceIsLostTheRunEndsThereAndGoesOnLater() throws Exception {
        List<String> lines = run(Map.of("EMULATED_FAIL", "cuGraphLaunch", "EMULATED_FAIL_AFTER", "5"));
        assertThat(cells(lines)).hasSize(2);
        assertThat(cells(lines).get(0)).endsWith(": ok ");
        assertThat(cells(lines).get(1))
                .contains(": failed the device is lost: launch a graph: cuGraphLaunch: CUDA_ERROR_ILLEGAL_ADDRESS");
        assertThat(Files.readString(out.resolve("environment.json")))
                .contains("\"before\"")
                .doesNotContain("\"after\"");
        assertThat(cells(run(Map.of())).stream().filter(line -> line.endsWith(": ok ")))
                .hasSize(CELLS - 1);
    }

    @Test
    void repetitionsInFreshProcessesShareTheRowsOfTheFirst() throws Exception {
        String two = DEFINITION.replace("seed = [1, 2]", "seed = 1")
                + "[protocol]\nrepetitions = 2\nfresh_processes = true\n";
        Files.writeString(definition, two);
        Path kept = Files.createDirectory(folder.resolve("kept"));
        List<String> printed = EmulatedDriver.run(
                Main.class,
                List.of(
                        "run",
                        definition.toString(),
                        "--backend",
                        "cuda",
                        "--out",
                        out.toString(),
                        "--host-rows",
                        "" + kept),
                Map.of());
        assertThat(printed.stream().filter(line -> line.contains(" of rows made in ")))
                .hasSize(1);
        assertThat(printed.stream().filter(line -> line.contains(" of rows mapped from ")))
                .hasSize(2);
        assertThat(printed.stream().filter(line -> line.equals("not freed: 0"))).hasSizeGreaterThanOrEqualTo(2);
        assertThat(printed).anyMatch(line -> line.startsWith("Rows: ok 6."));
        assertThat(ResultsCsv.readDirectory(out).stream().map(row -> row.text("cell") + " " + row.text("repetition")))
                .doesNotHaveDuplicates();
        assertThat(hashes(out)).hasSize(6).containsOnly(hashes(out).get(0));
    }

    private List<String> run(Map<String, String> environment, String... kept) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(definition.toString(), out.toString()));
        arguments.addAll(List.of(kept));
        return EmulatedDriver.run(EmulatedRun.class, arguments, environment);
    }

    private static List<String> cells(List<String> lines) {
        return lines.stream().filter(line -> line.startsWith("engine=")).toList();
    }

    private static List<String> hashes(Path out) throws IOException {
        return ResultsCsv.readDirectory(out).stream().map(CudaBackendTest::hash).toList();
    }

    private static String hash(ResultRow row) {
        assertThat(row.text("status")).as(row.text("reason")).isEqualTo("ok");
        return row.text("output_sha256");
    }
}
