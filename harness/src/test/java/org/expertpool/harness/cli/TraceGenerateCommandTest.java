package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceGenerateCommandTest {
    private static final String PRESET = "qwen3-30b-a3b";

    @TempDir
    private Path folder;

    @Test
    void theSameSeedWritesTheSameBytes() throws IOException {
        byte[] first = generated("first.trace", "7");
        assertThat(generated("second.trace", "7")).isEqualTo(first);
        assertThat(generated("third.trace", "8")).isNotEqualTo(first);
    }

    @Test
    void anUnknownPresetOrNoForwardsIsBadInputAndLeavesNoFile() {
        Path out = folder.resolve("none.trace");
        assertThat(Main.run("trace", "generate", "--preset", "x", "--forwards", "5", "--out", out.toString()))
                .isEqualTo(2);
        assertThat(Main.run("trace", "generate", "--preset", PRESET, "--forwards", "0", "--out", out.toString()))
                .isEqualTo(2);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void infoShowsThePublishedCurveBesideTheTrace() throws IOException {
        generated("info.trace", "1", 256);
        String trace = folder.resolve("info.trace").toString();
        assertThat(printed("trace", "info", trace))
                .contains("synthetic qwen3-30b-a3b, seed 1, 256 forwards")
                .containsPattern("lru_hit_ratio_cold_24.3_rows +0\\.7\\d+ +0.7410 +[+-]0\\.0\\d+ +kekzl/imp#1374");
        assertThat(printed("trace", "info", "--json", trace)).contains("\"lru_hit_ratio_cold_8_rows\":0.");
        assertThat(printed("trace", "info", "--statistics-forwards", "0", trace))
                .doesNotContain("lru_hit_ratio");
    }

    private static String printed(String... command) {
        PrintStream before = System.out;
        ByteArrayOutputStream captured = new ByteArrayOutputStream();
        System.setOut(new PrintStream(captured, true, StandardCharsets.UTF_8));
        try {
            assertThat(Main.run(command)).isZero();
        } finally {
            System.setOut(before);
        }
        return captured.toString(StandardCharsets.UTF_8);
    }

    private byte[] generated(String name, String seed) throws IOException {
        return generated(name, seed, 20);
    }

    private byte[] generated(String name, String seed, int forwards) throws IOException {
        Path out = folder.resolve(name);
        int exit = Main.run(
                "trace",
                "generate",
                "--preset",
                PRESET,
                "--forwards",
                String.valueOf(forwards),
                "--seed",
                seed,
                "--out",
                out.toString());
        assertThat(exit).isZero();
        return Files.readAllBytes(out);
    }
}
