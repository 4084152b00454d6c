package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

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

    @ParameterizedTest
    @ValueSource(strings = {"--prefill=208", "--tokens=8", "--rows=258", "--json"})
    void benchRefusesOptionsOfTheDeviceWithoutIt(String option) {
        assertThat(CommandResult.poolbench("bench", option, "PlannerStep"))
                .isEqualTo(new CommandResult(
                        2,
                        "",
                        "poolbench bench: " + option.replaceFirst("=.*", "")
                                + ": expected --backend cuda beside it\n"));
    }

    /** A process of its own, on a device file that takes nothing, and behind a reader that goes away. */
    @Test
    void linesThatStandardOutputDidNotTakeAreNoSuccess(@TempDir Path folder) throws Exception {
        Path full = Path.of("/dev/full");
        assumeThat(full).exists();
        Path err = folder.resolve("err");
        assertThat(process(err).redirectOutput(full.toFile()).start().waitFor()).isEqualTo(1);
        assertThat(err).hasContent("poolbench: standard output: No space left on device\n");
        Process unread = process(err).start();
        unread.getInputStream().close();
        assertThat(unread.waitFor()).isEqualTo(1);
        assertThat(err).isEmptyFile();
        assertThat(process(err)
                        .redirectOutput(folder.resolve("out").toFile())
                        .start()
                        .waitFor())
                .isZero();
        assertThat(folder.resolve("out")).content().startsWith("evict.lru\n");
    }

    private static ProcessBuilder process(Path err) {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "simulate",
                        "--list-policies")
                .redirectError(err.toFile());
    }
}
