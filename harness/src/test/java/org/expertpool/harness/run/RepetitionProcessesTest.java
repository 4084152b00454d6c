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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Repetitions in processes of their own, their command lines run here: what each is told, and what becomes of the folder. */
class RepetitionProcessesTest {
    @TempDir
    private Path folder;

    private final List<List<String>> started = new ArrayList<>();
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private Path definition;
    private Path out;

    @BeforeEach
    void writeDefinition() throws IOException {
        definition = Files.writeString(
                folder.resolve("definition.toml"),
                Definitions.SMALL
                        .replace("repetitions = 2", "repetitions = 3\nfresh_processes = true")
                        .replace("[16, 208, 448]", "[16, 20]")
                        .replace("[16, 208]", "16"));
        out = folder.resolve("out");
    }

    @Test
    void eachRepetitionIsAProcessAndAllRowsAreInOneFolder() throws IOException {
        assertThat(run(this::inThisProcess, false, "window=warm")).isTrue();
        assertThat(started).hasSize(3);
        assertThat(started.get(1))
                .containsSequence("run", definition.toString())
                .containsSequence("--backend", "model")
                .containsSequence("--repetition", "2")
                .containsSequence("--set", "window=warm")
                .containsSequence("--host-rows", folder.toString());
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows.stream().map(row -> row.text("repetition")).distinct()).containsExactly("1", "2", "3");
        assertThat(rows).hasSize(3 * 6);
        JsonNode environment =
                new ObjectMapper().readTree(out.resolve("environment.json").toFile());
        assertThat(environment.path("sessions").findValuesAsText("repetition")).containsExactly("1", "2", "3");
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("Rows: ok 18.")
                .doesNotContain("is flat");
        assertThat(out.resolve(".definition.toml")).doesNotExist();
    }

    @Test
    void whereAProcessDiesTheRowsSoFarStayAndAResumeGoesOn() throws IOException {
        assertThatThrownBy(
                        () -> run(arguments -> started.size() == 1 ? died(arguments) : inThisProcess(arguments), false))
                .isInstanceOf(IOException.class)
                .hasMessage("repetition 2: its process ended with exit code 137; --resume goes on with what is left");
        List<ResultRow> before = ResultsCsv.readDirectory(out);
        assertThat(before.stream().map(row -> row.text("repetition")).distinct())
                .containsExactly("1");
        assertThatThrownBy(() -> run(this::inThisProcess, false))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("is not empty");
        assertThat(run(this::inThisProcess, true)).isTrue();
        List<ResultRow> after = ResultsCsv.readDirectory(out);
        assertThat(after.subList(0, before.size())).isEqualTo(before);
        assertThat(after).hasSize(3 * before.size());
    }

    @Test
    void badInputOfAProcessAndBadRepetitionsAreRefused() {
        assertThatThrownBy(() -> run(arguments -> 2, false))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("repetition 1: its process ended with exit code 2");
        assertThatThrownBy(() -> run(this::inThisProcess, false, OptionalInt.of(4)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("--repetition is 4, expected 1 to 3");
        assertThatThrownBy(() -> run(this::inThisProcess, false, "protocol.fresh_processes=often"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("protocol.fresh_processes is \"often\", expected true or false");
    }

    private int inThisProcess(List<String> arguments) {
        started.add(arguments);
        return Main.run(arguments.toArray(String[]::new));
    }

    private int died(List<String> arguments) {
        started.add(arguments);
        return 137;
    }

    private boolean run(RunProcess processes, boolean resume, String... settings) throws IOException {
        return run(processes, resume, OptionalInt.empty(), settings);
    }

    private boolean run(RunProcess processes, boolean resume, OptionalInt repetition, String... settings)
            throws IOException {
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        HostRows rows = new HostRows(Optional.of(folder), stream::println);
        return new Experiments(stream, stream, rows, processes)
                .run(new Experiments.Request(
                        definition,
                        "model",
                        Optional.of(out),
                        resume,
                        Optional.empty(),
                        repetition,
                        List.of(settings),
                        false,
                        false));
    }
}
