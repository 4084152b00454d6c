package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.cuda.CudaContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** run, plot and compare through the command line, with the real model and the real figures. */
class ExperimentCommandsTest {
    private static final String DEFINITION = """
            name = "tiny"
            question = "Do the commands work?"
            expectation = "They do."
            model = "qwen3.8-flash-next"

            [trace]
            preset = "qwen3.8-flash-next-prose"
            forwards = 20

            [axes]
            device = "h200"
            policy = "lru"
            rows = [31, 62]
            graph_mode = ["none", "full-decode"]
            context = 4096
            """;

    @TempDir
    private Path folder;

    private final PrintStream out = System.out;
    private final PrintStream err = System.err;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final ByteArrayOutputStream noticed = new ByteArrayOutputStream();
    private String definition;

    @BeforeEach
    void setUp() throws IOException {
        definition = Files.writeString(folder.resolve("tiny.toml"), DEFINITION).toString();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(noticed, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void tearDown() {
        System.setOut(out);
        System.setErr(err);
    }

    @Test
    void runPlotAndCompareWorkTogether() throws IOException {
        String a = folder.resolve("a").toString();
        String b = folder.resolve("b").toString();
        assertThat(Main.run("run", definition, "--out", a)).isZero();
        assertThat(printed()).contains("Rows: ok 4.", "| rows_per_layer |", "Results: " + a);
        assertThat(noticed()).contains("backend model: counts are exact").doesNotContain("rows,");
        try (Stream<Path> figures = Files.list(folder.resolve("a/figures"))) {
            assertThat(figures.map(Path::toString))
                    .isNotEmpty()
                    .allMatch(name -> name.endsWith(".png") || name.endsWith(".svg"));
        }
        assertThat(Files.readString(folder.resolve("a/README.md"))).contains("Do the commands work?", "](figures/");

        assertThat(Main.run("plot", a, "--out", folder.resolve("figures").toString()))
                .isZero();
        assertThat(folder.resolve("figures")).isNotEmptyDirectory();

        assertThat(Main.run("run", definition, "--out", b, "--backend", "model", "--set", "device=rtx-pro-6000-48gib"))
                .isZero();
        assertThat(Main.run("compare", a, b, "--fail-on", "slower")).isZero();
        assertThat(printed()).contains("| hit_ratio ", "equal: ", "undecided: ");

        Path both = folder.resolve("both");
        assertThat(Main.run("plot", a, b, "--out", both.toString())).isZero();
        String parent = folder.getFileName().toString();
        assertThat(both.resolve(parent + "-a")).isNotEmptyDirectory();
        assertThat(both.resolve(parent + "-b")).isNotEmptyDirectory();

        refused("a cell of one run alone", "plot", a, b, "--together", "--out", a);
        refused("--together without --out", "plot", a, b, "--together");

        // Of runs without a cell in common a gate would hold whatever they say.
        String other = folder.resolve("other").toString();
        assertThat(Main.run("run", definition, "--out", other, "--set", "rows=30,61"))
                .isZero();
        assertThat(Main.run(
                        "plot",
                        a,
                        other,
                        "--together",
                        "--out",
                        folder.resolve("both").toString()))
                .isZero();
        assertThat(folder.resolve("both/decode-speed-by-rows.png")).exists();
        refused("no cell is in both: " + a + " has '", "compare", a, other, "--fail-on", "slower");
        assertThat(Main.run("compare", a, other)).isZero();
        assertThat(printed()).contains("No cell is in both runs.\nonly in A: rows=31,graph_mode=none\n");

        Path csv = folder.resolve("b/results.csv");
        List<String> lines = Files.readAllLines(csv);
        Files.writeString(csv, lines.get(lines.size() - 1) + "\n", StandardOpenOption.APPEND);
        refused(csv + ": repetition 1 of cell ", "compare", a, b);
        assertThat(noticed()).endsWith(" stands twice, expected a run, with each once\n");
    }

    @Test
    void jsonIsAllOfTheStandardOutput() throws IOException {
        String a = folder.resolve("a").toString();
        assertThat(Main.run("run", definition, "--json", "--dry-run")).isZero();
        JsonNode plan = new ObjectMapper().readTree(printed());
        assertThat(plan.path("cells")).hasSize(4);
        assertThat(plan.path("simulations").asInt()).isEqualTo(2);
        printed.reset();

        assertThat(Main.run("run", definition, "--json", "--out", a)).isZero();
        JsonNode run = new ObjectMapper().readTree(printed());
        assertThat(noticed()).contains("backend model");
        assertThat(run.path("directory").asText()).isEqualTo(a);
        assertThat(run.path("success").asBoolean()).isTrue();
        assertThat(run.path("rows")).hasSize(4);
        List<String> header = List.of(
                Files.readAllLines(folder.resolve("a/results.csv")).get(0).split(","));
        run.path("rows")
                .get(0)
                .fieldNames()
                .forEachRemaining(column -> assertThat(header).contains(column));
        assertThat(run.path("rows").get(0).path("rows_per_layer").asInt()).isEqualTo(31);
        assertThat(run.path("rows").get(0).path("decode_tok_per_s").isNumber()).isTrue();
    }

    @Test
    void jsonNamesAFailedCheck() throws IOException {
        Path file = Files.writeString(
                folder.resolve("check.toml"),
                DEFINITION + "[[check]]\nname = \"never\"\nmetric = \"hit_ratio\"\nmin = 2\n");
        assertThat(Main.run(
                        "run",
                        file.toString(),
                        "--json",
                        "--out",
                        folder.resolve("c").toString()))
                .isEqualTo(1);
        JsonNode run = new ObjectMapper().readTree(printed());
        assertThat(run.path("success").asBoolean(true)).isFalse();
        JsonNode check = run.path("checks").get(0);
        assertThat(check.path("name").asText()).isEqualTo("never");
        assertThat(check.path("holds").asBoolean(true)).isFalse();
        assertThat(check.path("violations")).hasSize(4);
    }

    @Test
    void dryRunListsTheCellsAndWritesNothing() {
        assertThat(Main.run("run", definition, "--out", folder.resolve("dry").toString(), "--dry-run"))
                .isZero();
        assertThat(printed())
                .startsWith("rows=31,graph_mode=none\nrows=31,graph_mode=full-decode\n")
                .contains("4 cells x 1 repetitions, 2 simulations, backend model, about ");
        assertThat(folder.resolve("dry")).doesNotExist();
    }

    @Test
    void aPlanForADeviceNeedsNone() {
        assertThat(Main.run("run", definition, "--backend", "cuda", "--dry-run"))
                .isZero();
        assertThat(printed())
                .startsWith("rows=31,graph_mode=none\n")
                .contains("backend cuda, about ")
                .endsWith(" s, to load rows alone\n");
    }

    @Test
    void anAbsentTraceFileSkipsEveryCellAndIsNoFailure() throws IOException {
        String absent = DEFINITION
                .replace("preset = \"qwen3.8-flash-next-prose\"", "file = \"no-such.csv\"")
                .replace("forwards = 20", "sha256 = \"" + "0".repeat(64) + "\"");
        Path file = Files.writeString(folder.resolve("absent.toml"), absent);
        assertThat(Main.run("run", file.toString(), "--out", folder.resolve("s").toString()))
                .isZero();
        assertThat(printed()).contains("skipped 4", "trace file no-such.csv is not here");
    }

    @Test
    void aCheckThatFailsExitsWithOne() throws IOException {
        Path file = Files.writeString(
                folder.resolve("check.toml"),
                DEFINITION + "[[check]]\nname = \"never\"\nmetric = \"hit_ratio\"\nmin = 2\n");
        assertThat(Main.run("run", file.toString(), "--out", folder.resolve("c").toString()))
                .isEqualTo(1);
        assertThat(printed()).contains("never - FAILS");
    }

    @Test
    void aModelTooLargeForJavaIsRefusedAndNoFailure() throws IOException {
        String out = folder.resolve("java").toString();
        assertThat(Main.run("run", definition, "--backend", "java", "--out", out))
                .isZero();
        assertThat(printed())
                .contains("refused 4", "model qwen3.8-flash-next has ", "bytes of experts, expected at most 268435456");
    }

    @Test
    void badInputIsOneLineAndExitCodeTwo() throws IOException {
        Path full = Files.createDirectory(folder.resolve("full"));
        Files.writeString(full.resolve("x"), "x");
        refused("is not empty", "run", definition, "--out", full.toString());
        refused("no such file", "run", folder.resolve("none.toml").toString());
        if (CudaContext.whyNot().isPresent()) {
            refused(", expected auto, model or java", "run", definition, "--backend", "cuda");
        }
        refused("full: cannot be read: Is a directory", "run", full.toString());
        refused(
                "x: is a file, expected a new directory",
                "run",
                definition,
                "--out",
                full.resolve("x").toString());
        refused("x/y", "run", definition, "--out", full.resolve("x/y").toString());
        refused("trace.preset is \"prose\", expected one of", "run", definition, "--set", "trace.preset=prose");
        refused("--backend gpu: expected one of auto, model, java, cuda", "run", definition, "--backend", "gpu");
        refused("expected i/n", "run", definition, "--shard", "3/2", "--dry-run");
        refused("unknown key 'speed'", "run", definition, "--set", "speed=1", "--dry-run");
        refused("Missing required parameter", "run");
        refused("no such directory", "plot", folder.resolve("none").toString());
        Files.writeString(full.resolve("results.csv"), "policy,scope\n");
        refused("no column schema", "plot", full.toString());
        Files.delete(full.resolve("results.csv"));
        refused(
                "expected directories of different names",
                "plot",
                full.toString(),
                full.toString(),
                "--out",
                full.toString());
        refused("no such file", "compare", full.toString(), full.toString());
        refused(
                "is a file, expected a directory",
                "plot",
                full.toString(),
                "--out",
                full.resolve("x").toString());
        Files.createDirectory(full.resolve("results.csv"));
        refused("cannot be read: Is a directory", "compare", full.toString(), full.toString());
        refused("--margin is 1.5", "compare", full.toString(), full.toString(), "--margin", "1.5");
        refused("--fail-on is 'faster'", "compare", full.toString(), full.toString(), "--fail-on", "faster");
    }

    private void refused(String message, String... arguments) {
        noticed.reset();
        assertThat(Main.run(arguments)).as(String.join(" ", arguments)).isEqualTo(2);
        assertThat(noticed()).contains(message).hasLineCount(1);
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    private String noticed() {
        return noticed.toString(StandardCharsets.UTF_8);
    }
}
