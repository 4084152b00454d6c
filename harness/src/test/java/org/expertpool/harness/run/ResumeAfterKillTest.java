package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run in a process of its own, killed with SIGKILL fifty times at random moments. */
class ResumeAfterKillTest {
    private static final int KILLS = 50;
    private static final long CELL_MILLIS = 2;

    /** How Java reports a child that died of SIGKILL: 128 + 9. */
    private static final int KILLED = 137;

    @TempDir
    private Path folder;

    @Test
    void fiftyKillsLoseNoRowRedoNoneAndChangeNone() throws Exception {
        Definition definition = definition(folder);
        run(definition, folder.resolve("undisturbed"), folder.resolve("undisturbed.log"));
        byte[] expected = Files.readAllBytes(folder.resolve("undisturbed/results.csv"));

        SplittableRandom random = new SplittableRandom(20);
        int kills = 0;
        int finished = 0;
        while (kills < KILLS || finished == 0) {
            Path out = folder.resolve("killed-" + finished);
            Path log = folder.resolve("killed-" + finished + ".log");
            byte[] before = content(out);
            Process child = start(out, log);
            // Most kills land among the rows, some while the process starts; after the last one it may end.
            boolean early = random.nextInt(5) == 0;
            boolean last = kills >= KILLS;
            if (!last && early) {
                child.waitFor(random.nextInt(400), TimeUnit.MILLISECONDS);
            } else {
                while (child.isAlive() && (last || content(out).length <= before.length)) {
                    child.waitFor(1, TimeUnit.MILLISECONDS);
                }
                child.waitFor(random.nextInt(25_000), TimeUnit.MICROSECONDS);
            }
            int exit = child.destroyForcibly().waitFor();
            assertThat(exit).as(() -> "exit code of the child: " + readChild()).isIn(0, KILLED);
            kills += exit == KILLED ? 1 : 0;
            byte[] after = content(out);
            int whole = wholeLength(before);
            assertThat(Arrays.copyOf(after, whole))
                    .as("rows on disk before kill %d", kills)
                    .isEqualTo(Arrays.copyOf(before, whole));
            if (Files.exists(out.resolve("environment.json")) && !Files.exists(out.resolve(".definition.toml"))) {
                assertThat(after).isEqualTo(expected);
                assertThat(names(out)).contains("definition.toml", "README.md").noneMatch(name -> name.startsWith("."));
                finished++;
            }
        }
        assertThat(kills).isGreaterThanOrEqualTo(KILLS);
    }

    /**
     * The program of the killed process. It records each measurement before it makes it, and fails if a row that
     * stood in the file when it started is measured again.
     */
    public static void main(String[] args) throws IOException {
        Path out = Path.of(args[0]);
        Path log = Path.of(args[1]);
        Definition definition = definition(Path.of(args[2]));
        Files.deleteIfExists(log);
        String before = new String(content(out), StandardCharsets.UTF_8);
        long done = before.substring(0, before.lastIndexOf('\n') + 1)
                .lines()
                .skip(1)
                .count();
        run(definition, out, log);
        long measured = Files.exists(log) ? Files.readAllLines(log).size() : 0;
        long all = (long) definition.cells().size() * definition.repetitions();
        if (done + measured != all) {
            throw new IllegalStateException(done + " rows were there, " + measured + " were measured, of " + all);
        }
    }

    private static Definition definition(Path folder) throws IOException {
        String rows = "rows=" + IntStream.range(20, 60).boxed().toList();
        return Definitions.read(folder, Definitions.SMALL, rows.replace(" ", ""), "protocol.repetitions=2");
    }

    private static void run(Definition definition, Path out, Path log) throws IOException {
        ExperimentRunner runner = new ExperimentRunner(
                definition,
                new FakeBackend(log, CELL_MILLIS),
                outcome -> new RunReport(definition, outcome).writeReadme(List.of()),
                new RepositoryFiles(out.getParent(), Optional.empty()),
                new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
                Clock.systemUTC());
        runner.run(new RunOptions(Optional.of(out), true, Shard.WHOLE));
    }

    private Process start(Path out, Path log) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        // A definition folder of its own: a killed process may leave the file half written.
        Path definitions = Files.createTempDirectory(folder, "definition");
        return new ProcessBuilder(
                        java,
                        "-Xmx64m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ResumeAfterKillTest.class.getName(),
                        out.toString(),
                        log.toString(),
                        definitions.toString())
                .redirectErrorStream(true)
                .redirectOutput(new File(folder.toFile(), "child.txt"))
                .start();
    }

    private String readChild() {
        try {
            return Files.readString(folder.resolve("child.txt"));
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }

    private static byte[] content(Path out) throws IOException {
        Path csv = out.resolve("results.csv");
        return Files.exists(csv) ? Files.readAllBytes(csv) : new byte[0];
    }

    private static int wholeLength(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        return end;
    }

    private static List<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
