package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunReportTest {
    @TempDir
    private Path folder;

    @Test
    void whereNoFigureCanBeDrawnTheRunIsFinishedWithoutOne() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL, "rows=20,21");
        Path out = folder.resolve("out");
        ByteArrayOutputStream notices = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(notices, true, StandardCharsets.UTF_8);
        try (FakeBackend backend = new FakeBackend(folder.resolve("log"), 0)) {
            // A file in the place of the figures' folder stands for everything that keeps figures from being drawn.
            ExperimentRunner runner = new ExperimentRunner(
                    definition,
                    backend,
                    outcome -> {
                        Files.writeString(out.resolve("figures"), "in the way");
                        new RunReport(definition, outcome).write(stream);
                    },
                    new RepositoryFiles(folder, Optional.empty()),
                    stream,
                    Clock.systemUTC());
            RunOptions options = new RunOptions(Optional.of(out), false, Shard.WHOLE);
            assertThat(runner.run(options).isSuccess()).isTrue();
        }
        assertThat(notices.toString(StandardCharsets.UTF_8))
                .startsWith("no figures: ")
                .hasLineCount(1);
        assertThat(Files.readString(out.resolve("README.md")))
                .contains(
                        "Does it run?",
                        "Again: `./poolbench run definition.toml --backend fake`, the definition that is kept here.")
                .doesNotContain("![");
        assertThat(out.resolve("environment.json")).exists();
        assertThat(out.resolve("definition.toml")).exists();
    }
}
