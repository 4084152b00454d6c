package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExperimentRunnerTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-29T12:00:00Z"), ZoneOffset.UTC);

    @TempDir
    private Path folder;

    private Path out;
    private Definition definition;
    private final ByteArrayOutputStream notices = new ByteArrayOutputStream();

    @BeforeEach
    void setUp() throws IOException {
        out = folder.resolve("out");
        definition = Definitions.read(folder, Definitions.SMALL, "rows=20,21,22");
    }

    @Test
    void aRunLeavesOneRowPerCellAndRepetitionAndTheOtherFiles() throws IOException {
        RunOutcome outcome = run(out, false, "1/1");
        assertThat(outcome.isSuccess()).isTrue();
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows).hasSize(2 * definition.cells().size()).isEqualTo(outcome.rows());
        assertThat(rows.get(1).text("cell")).isEqualTo(definition.cells().get(0).id());
        assertThat(rows.get(1).text("repetition")).isEqualTo("2");
        assertThat(rows.get(1).text("decode_tok_per_s")).isEqualTo("12");
        assertThat(rows.get(0).values())
                .containsEntry("experiment", "small")
                .containsEntry("basis", "modelled")
                .containsEntry("backend", "fake")
                .containsEntry("engine", "pool")
                .containsEntry("device", "rtx-pro-6000-48gib")
                .containsEntry("model", "qwen3.8-flash-next")
                .containsEntry("trace", "qwen3.8-flash-next-prose")
                .containsEntry("rows_per_layer", "20")
                .containsEntry("graph_mode", "none")
                .containsEntry("context", "4096")
                .containsEntry("seed", "1")
                .containsEntry("window", "warm")
                .containsEntry("initial", "first-n")
                .containsEntry("memory_bytes", "51539607552");
        assertThat(names(out))
                .containsExactlyInAnyOrder("results.csv", "environment.json", "definition.toml", "README.md");
        assertThat(Files.readString(out.resolve("definition.toml"))).isEqualTo(definition.text());
        JsonNode environment =
                new ObjectMapper().readTree(out.resolve("environment.json").toFile());
        assertThat(environment.path("exit_status").asInt(-1)).isZero();
        assertThat(environment.path("started_utc").asText()).isEqualTo("2026-11-29T12:00:00Z");
        assertThat(environment.path("sessions")).hasSize(1);
    }

    @Test
    void failedRefusedAndSkippedCellsAreKeptWithTheirReason() throws IOException {
        definition = Definitions.read(
                folder,
                Definitions.SMALL,
                "rows=16,17,18,19",
                "policy=lru",
                "protocol.repetitions=1",
                "matrix=[{}]",
                "window=warm");
        RunOutcome outcome = run(out, false, "1/1");
        assertThat(outcome.isSuccess()).isFalse();
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows.stream().map(row -> row.text("status") + ": " + row.text("reason")))
                .containsExactly("skipped: no trace", "refused: rows: 17 is odd", "failed: broken badly", "ok: ");
        assertThat(rows.subList(0, 3))
                .allSatisfy(row -> assertThat(row.get("hit_ratio")).isEmpty());
        assertThat(Files.readString(out.resolve("README.md"))).contains("1 failed: broken badly");
        JsonNode environment =
                new ObjectMapper().readTree(out.resolve("environment.json").toFile());
        assertThat(environment.path("exit_status").asInt()).isEqualTo(1);
    }

    @Test
    void whereTheDeviceIsLostTheRunEndsWithThatCellAndResumeGoesOnAfterIt() throws IOException {
        definition = Definitions.read(
                folder,
                Definitions.SMALL,
                "rows=20,15,22,24",
                "policy=lru",
                "protocol.repetitions=1",
                "matrix=[{}]",
                "window=warm");
        assertThat(run(out, false, "1/1").isSuccess()).isFalse();
        assertThat(ResultsCsv.readDirectory(out).stream().map(row -> row.text("status") + ": " + row.text("reason")))
                .containsExactly("ok: ", "failed: the device is lost");
        assertThat(names(out)).contains("environment.json", "README.md");
        assertThat(run(out, true, "1/1").isSuccess()).isFalse();
        assertThat(ResultsCsv.readDirectory(out).stream().map(row -> row.text("rows_per_layer") + row.text("status")))
                .containsExactly("20ok", "15failed", "22ok", "24ok");
        assertThat(measured()).hasSize(4);
    }

    @Test
    void skippedAndRefusedCellsAloneAreNoFailure() throws IOException {
        definition = Definitions.read(folder, Definitions.SMALL, "rows=16,17");
        assertThat(run(out, false, "1/1").isSuccess()).isTrue();
    }

    @Test
    void whileItRunsTheFolderHoldsWholeLinesAndNoOtherVisibleFile() throws IOException {
        try (RunDirectory directory = RunDirectory.start(out, definition)) {
            assertThat(names(out).stream().filter(name -> !name.startsWith(".")))
                    .containsExactly("results.csv");
            assertThatThrownBy(() -> run(out, true, "1/1"))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("another run is writing it");
            assertThat(directory.isFinished()).isFalse();
        }
    }

    @Test
    void aFolderThatIsNotEmptyIsRefusedWithoutResume() throws IOException {
        run(out, false, "1/1");
        assertThatThrownBy(() -> run(out, false, "1/1"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("is not empty");
    }

    @Test
    void resumeOfAFinishedRunChangesNothing() throws IOException {
        run(out, false, "1/1");
        byte[] environment = Files.readAllBytes(out.resolve("environment.json"));
        RunOutcome again = run(out, true, "1/1");
        assertThat(again.rows()).hasSize(2 * definition.cells().size());
        assertThat(measured()).hasSize(2 * definition.cells().size());
        assertThat(Files.readAllBytes(out.resolve("environment.json"))).isEqualTo(environment);
        assertThat(notices.toString(StandardCharsets.UTF_8)).contains("nothing left to do");
    }

    @Test
    void resumeRefusesAnotherDefinitionAndAFolderThatIsNoRun() throws IOException {
        run(out, false, "1/1");
        definition = Definitions.read(folder, Definitions.SMALL, "rows=20,21,23");
        assertThatThrownBy(() -> run(out, true, "1/1"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("another version of the definition");
        Path other = Files.createDirectory(folder.resolve("other"));
        Files.writeString(other.resolve("letter.txt"), "hello");
        assertThatThrownBy(() -> run(other, true, "1/1")).hasMessageContaining("holds no results.csv");
        assertThat(names(other)).containsExactly("letter.txt");
    }

    @Test
    void resumeRefusesWhatAnotherBackendOrAnotherShardMade() throws IOException {
        Path shard = folder.resolve("shard");
        run(shard, false, "1/2");
        byte[] before = Files.readAllBytes(shard.resolve("results.csv"));
        assertThatThrownBy(() -> run(shard, true, "2/2"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("shard: has cell ")
                .hasMessageContaining(", which shard 2/2 has not, expected that shard's own directory");
        assertThat(Files.readAllBytes(shard.resolve("results.csv"))).isEqualTo(before);
        assertThat(run(shard, true, "1/1").rows())
                .hasSize(2 * definition.cells().size());

        String csv = Files.readString(shard.resolve("results.csv")).replace(",fake,", ",java,");
        Files.writeString(shard.resolve("results.csv"), csv.substring(0, csv.length() / 2));
        assertThatThrownBy(() -> run(shard, true, "1/1"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(" was run by --backend java, expected the same to go on with it, not fake");
    }

    @Test
    void resumeFromAnyByteGivesTheRowsOfAnUndisturbedRunAndMeasuresNoFinishedRowAgain() throws IOException {
        run(out, false, "1/1");
        byte[] whole = Files.readAllBytes(out.resolve("results.csv"));
        int total = 2 * definition.cells().size();
        for (int cut = 0; cut < whole.length; cut += 397) {
            Path killed = Files.createDirectory(folder.resolve("killed-" + cut));
            Files.write(killed.resolve("results.csv"), Arrays.copyOf(whole, cut));
            Files.writeString(killed.resolve(".definition.toml"), definition.text());
            Files.deleteIfExists(folder.resolve("log"));
            int lines = wholeLines(whole, cut);
            run(killed, true, "1/1");
            assertThat(Files.readAllBytes(killed.resolve("results.csv"))).isEqualTo(whole);
            assertThat(measured()).hasSize(total - Math.max(0, lines - 1));
            assertThat(names(killed)).doesNotContain(".definition.toml", ".sessions.json");
        }
    }

    @Test
    void theShardsTogetherAreTheWholeAndDoNotOverlap() throws IOException {
        run(out, false, "1/1");
        Set<ResultRow> whole = new HashSet<>(ResultsCsv.readDirectory(out));
        for (int count : new int[] {2, 3, 8}) {
            List<ResultRow> union = new ArrayList<>();
            for (int index = 1; index <= count; index++) {
                Path shard = folder.resolve("shard-" + index + "-" + count);
                union.addAll(run(shard, false, index + "/" + count).rows());
            }
            assertThat(union).doesNotHaveDuplicates();
            assertThat(new HashSet<>(union)).isEqualTo(whole);
        }
    }

    @Test
    void shardsAreRefusedOutsideTheirRange() {
        for (String bad : List.of("0/2", "3/2", "1", "1/0", "a/b", "1/2/3")) {
            assertThatThrownBy(() -> Shard.parse(bad))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("expected i/n");
        }
    }

    @Test
    void theDefaultFolderIsNumberedFromOneAndResumeTakesTheNewest() throws IOException {
        definition = Definitions.read(folder, Definitions.SMALL, "rows=20", "policy=lru", "protocol.repetitions=1");
        Path results = folder.resolve("experiments/results/small");
        assertThat(run(null, false, "1/1").directory()).isEqualTo(results.resolve("2026-11-29.1"));
        assertThat(run(null, false, "1/1").directory()).isEqualTo(results.resolve("2026-11-29.2"));
        for (int n = 3; n <= 10; n++) {
            run(null, false, "1/1");
        }
        assertThat(run(null, true, "1/1").directory()).isEqualTo(results.resolve("2026-11-29.10"));
        assertThatThrownBy(() -> run(null, true, "1/2")).hasMessageContaining("expected --out DIR");
    }

    @Test
    void checksJudgeTheSelectedRows() throws IOException {
        String checks = Definitions.SMALL + """
                [[check]]
                name = "hit ratio grows"
                where = {rows_per_layer = 22, window = "warm"}
                metric = "hit_ratio"
                min = 0.04
                max = 0.05
                """;
        definition = Definitions.read(folder, checks, "rows=20,22");
        RunOutcome outcome = run(out, false, "1/1");
        assertThat(outcome.checks()).hasSize(1);
        assertThat(outcome.checks().get(0).rows()).isEqualTo(4);
        assertThat(outcome.isSuccess()).isTrue();
        definition = Definitions.read(folder, checks.replace("0.05", "0.041"), "rows=20,22");
        RunOutcome failing = run(folder.resolve("failing"), false, "1/1");
        assertThat(failing.isSuccess()).isFalse();
        assertThat(failing.checks().get(0).line())
                .contains("hit ratio grows - FAILS")
                .contains("'0.04296875'");
    }

    @Test
    void reportedFiguresEnterOnceWithTheirSource() throws IOException {
        Files.createDirectories(folder.resolve("experiments"));
        Files.writeString(folder.resolve("experiments/reported.csv"), """
                id,source,engine,rows_per_layer,context,decode_tok_per_s
                seed-258,"the proposal, table 1",pool,258,4096,63.19
                uva,the proposal,uva,,4096,7.42
                """);
        String reported = Definitions.SMALL.replace("[trace]", "reported = [\"seed-258\"]\n[trace]");
        definition = Definitions.read(folder, reported, "rows=20");
        run(out, false, "1/1");
        ResultRow first = ResultsCsv.readDirectory(out).get(0);
        assertThat(first.values())
                .containsEntry("cell", "reported=seed-258")
                .containsEntry("basis", "reported")
                .containsEntry("experiment", "small")
                .containsEntry("source", "the proposal, table 1")
                .containsEntry("decode_tok_per_s", "63.19")
                .doesNotContainKey("id");
        definition = Definitions.read(folder, reported.replace("seed-258", "seed-259"), "rows=20");
        assertThatThrownBy(() -> run(folder.resolve("unknown"), false, "1/1"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("reported names 'seed-259', expected an id of reported.csv: seed-258, uva");
        assertThat(folder.resolve("unknown")).doesNotExist();
    }

    private RunOutcome run(Path directory, boolean resume, String shard) throws IOException {
        RepositoryFiles files = new RepositoryFiles(folder, Optional.empty());
        try (FakeBackend backend = new FakeBackend(folder.resolve("log"), 0)) {
            ExperimentRunner runner = new ExperimentRunner(
                    definition,
                    backend,
                    outcome -> new RunReport(definition, outcome).writeReadme(List.of()),
                    files,
                    new PrintStream(notices, true),
                    CLOCK);
            return runner.run(new RunOptions(Optional.ofNullable(directory), resume, Shard.parse(shard)));
        }
    }

    private static int wholeLines(byte[] bytes, int end) {
        int lines = 0;
        for (int i = 0; i < end; i++) {
            lines += bytes[i] == '\n' ? 1 : 0;
        }
        return lines;
    }

    private List<String> measured() throws IOException {
        Path log = folder.resolve("log");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
