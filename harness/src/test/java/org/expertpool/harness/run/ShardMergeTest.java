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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardMergeTest {
    private static final int SHARDS = 3;

    private static final String DETAILS = """
            name = "apart"
            question = "Where?"
            expectation = "Here."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 60

            [axes]
            policy = ["fifo", "lru", "clock"]
            rows = 6
            seed = [1, 2, 3]

            [details]
            where = { policy = "evict.lru" }
            stretch_forwards = 16
            """;

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream notices = new ByteArrayOutputStream();
    private Path merged;
    private List<Path> shards;

    @BeforeEach
    void setUp() throws IOException {
        merged = folder.resolve("merged");
        shards = new ArrayList<>();
        for (int index = SHARDS; index >= 1; index--) {
            Path shard = folder.resolve("shard" + index);
            run(shard, index + "/" + SHARDS, "rows=20,21,22,16");
            shards.add(shard);
        }
    }

    @Test
    void theWholeEqualsAnUnshardedRun() throws IOException {
        Path whole = folder.resolve("whole");
        run(whole, "1/1", "rows=20,21,22,16");
        assertThat(merge(shards)).isTrue();
        for (String file : List.of("results.csv", "definition.toml", "README.md")) {
            assertThat(merged.resolve(file)).hasSameBinaryContentAs(whole.resolve(file));
        }
        JsonNode environment =
                new ObjectMapper().readTree(merged.resolve("environment.json").toFile());
        assertThat(environment.path("shard").asText()).isEqualTo("1/1");
        assertThat(environment.path("sessions")).hasSize(SHARDS);
        assertThat(environment.path("merged_from").findValuesAsText("shard")).containsExactly("1/3", "2/3", "3/3");
        assertThat(notices.toString(StandardCharsets.UTF_8)).doesNotContain("other code");
    }

    @Test
    void cellsTakenApartAreThoseOfAnUnshardedRun() throws IOException {
        Path file = Files.writeString(folder.resolve("details.toml"), DETAILS);
        Path whole = folder.resolve("whole");
        simulate(file, whole, Optional.empty());
        List<Path> halves = new ArrayList<>();
        for (int index : new int[] {2, 1}) {
            Path half = folder.resolve("half" + index);
            simulate(file, half, Optional.of(index + "/2"));
            halves.add(half);
        }
        assertThat(merge(halves)).isTrue();
        for (String name : List.of("layers", "sequences", "over_time", "lag_overlap", "working_set")) {
            assertThat(merged.resolve("details/" + name + ".csv"))
                    .hasSameBinaryContentAs(whole.resolve("details/" + name + ".csv"));
        }
        // The halves hold other traces first: the one of the definition's first cell is the second shard's.
        assertThat(halves.get(1).resolve("details/lag_overlap.csv"))
                .content()
                .isNotEqualTo(Files.readString(whole.resolve("details/lag_overlap.csv")));
        assertThat(merged.resolve("README.md")).hasSameBinaryContentAs(whole.resolve("README.md"));
    }

    @Test
    void detailsOfNoCellOfTheDefinitionAreNamed() throws IOException {
        Path details = Files.createDirectory(shards.get(0).resolve("details"));
        Files.writeString(details.resolve("layers.csv"), "cell,layer,hits\nrows=1,0,5\n");
        refused(shards, "details/layers.csv of a shard names cell rows=1, expected cells of the definition");
        Files.writeString(details.resolve("layers.csv"), "cell,layer,hits\nrows=1,0\n");
        refused(shards, "details/layers.csv: line 2 has 2 cells, expected 3");
    }

    @Test
    void aFailedCellInAnyShardFailsTheWhole() throws IOException {
        List<Path> failing = new ArrayList<>();
        for (int index = 1; index <= 2; index++) {
            Path shard = folder.resolve("failing" + index);
            run(shard, index + "/2", "rows=20,18");
            failing.add(shard);
        }
        assertThat(merge(failing)).isFalse();
    }

    @Test
    void aMissingShardIsNamed() {
        refused(shards.subList(0, 2), "shard 1/3 is missing");
    }

    @Test
    void theSameShardTwiceIsNamed() {
        shards.add(shards.get(0));
        refused(shards, "is shard 3/3, expected once");
    }

    @Test
    void anUnfinishedShardIsNamed() throws IOException {
        Files.delete(shards.get(1).resolve("environment.json"));
        refused(shards, "shard2: holds no finished run");
    }

    @Test
    void shardsOfOtherRunsAreNamed() throws IOException {
        Path other = folder.resolve("other");
        run(other, "1/3", "rows=20,21,22,23");
        refused(List.of(shards.get(0), shards.get(1), other), "other: its definition differs");
        Path half = folder.resolve("half");
        run(half, "1/2", "rows=20,21,22,16");
        refused(List.of(shards.get(0), half), "half: is shard 1/2, expected one of 3");
    }

    @Test
    void aLostRowIsNamed() throws IOException {
        Path results = shards.get(0).resolve("results.csv");
        List<String> lines = new ArrayList<>(Files.readAllLines(results));
        lines.remove(lines.size() - 1);
        Files.write(results, lines);
        refused(shards, "no shard has repetition 2 of cell");
    }

    @Test
    void otherCodeInAShardIsSaid() throws IOException {
        Path file = shards.get(0).resolve("environment.json");
        Files.writeString(
                file, Files.readString(file).replaceFirst("\"harness_sha256\" : \".", "\"harness_sha256\" : \"x"));
        assertThat(merge(shards)).isTrue();
        assertThat(notices.toString(StandardCharsets.UTF_8)).contains("shard3: ran other code");
    }

    private static void simulate(Path definition, Path out, Optional<String> shard) throws IOException {
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        assertThat(new Experiments(nowhere, nowhere)
                        .run(new Experiments.Request(
                                definition,
                                "model",
                                Optional.of(out),
                                false,
                                shard,
                                OptionalInt.empty(),
                                List.of(),
                                false,
                                false)))
                .isTrue();
    }

    private void refused(List<Path> directories, String message) {
        assertThatThrownBy(() -> merge(directories))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
        assertThat(merged).doesNotExist();
    }

    private boolean merge(List<Path> directories) throws IOException {
        PrintStream printed = new PrintStream(notices, true, StandardCharsets.UTF_8);
        return new ShardMerge(printed, printed, false).merge(directories, merged);
    }

    private void run(Path out, String shard, String rows) throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL, rows);
        try (FakeBackend backend = new FakeBackend(folder.resolve("log"), 0)) {
            PrintStream printed = new PrintStream(notices, true, StandardCharsets.UTF_8);
            new ExperimentRunner(
                            definition,
                            backend,
                            outcome -> new RunReport(definition, outcome).write(printed),
                            new RepositoryFiles(folder, Optional.empty()),
                            printed,
                            Clock.systemUTC())
                    .run(new RunOptions(Optional.of(out), false, Shard.parse(shard)));
        }
    }
}
