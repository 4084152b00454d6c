package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds of every command. */
class MainTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "bench",
                "capacity",
                "compare",
                "doctor",
                "plot",
                "replay",
                "run",
                "simulate",
                "trace",
                "trace info",
                "trace convert",
                "trace generate"
            })
    void helpIsCleanAndExitsWithZero(String command) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        PrintStream stderr = System.err;
        ByteArrayOutputStream complaints = new ByteArrayOutputStream(); // picocli's own, of texts it cannot format
        try {
            System.setErr(new PrintStream(complaints, true, StandardCharsets.UTF_8));
            String[] arguments = (command + " --help").strip().split(" ");
            assertThat(Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments))
                    .isZero();
        } finally {
            System.setErr(stderr);
        }
        assertThat(out.toString()).startsWith("Usage: " + ("poolbench " + command).strip());
        assertThat(err.toString() + complaints.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void aPathThatTheSystemRefusesIsBadInputAndNamesItself(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        StringWriter err = new StringWriter();
        int exit = Main.run(
                new PrintWriter(new StringWriter()),
                new PrintWriter(err, true),
                "bench",
                "--out=" + file,
                "PlannerStep");
        assertThat(exit).as(err.toString()).isEqualTo(2);
        assertThat(err.toString()).isEqualTo("poolbench bench: " + file + ": file already exists\n");
    }
}
