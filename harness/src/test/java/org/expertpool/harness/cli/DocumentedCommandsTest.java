package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Command lines that pages show, as they stand there, are ones that the command line takes. */
class DocumentedCommandsTest {
    private static final Path ROOT = Path.of("..");

    /** In a code span, or on a line of its own in a code block. */
    private static final Pattern COMMAND = Pattern.compile("(?:`|^)(?:\\./)?poolbench ([^`\\n]+)", Pattern.MULTILINE);

    @Test
    void everyDocumentedCommandIsComplete() throws IOException {
        int commands = 0;
        for (Path page : pages()) {
            Matcher matcher = COMMAND.matcher(Files.readString(page));
            while (matcher.find()) {
                String command = matcher.group(1);
                // Where a page leaves something out, or names a command alone, there is nothing to hold it to.
                if (command.contains(" ... ") || !command.contains(" ")) {
                    continue;
                }
                String[] arguments = Arrays.stream(command.strip().split("\\s+"))
                        .map(word -> word.matches("[A-Z]") ? "8" : word) // L, E, K, N stand for numbers
                        .toArray(String[]::new);
                assertThatCode(() -> Main.commandLine().parseArgs(arguments))
                        .as(page + ": " + command)
                        .doesNotThrowAnyException();
                commands++;
            }
        }
        assertThat(commands).isGreaterThan(20);
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("experiments/README.md")));
        try (Stream<Path> notes = Files.list(ROOT.resolve("notes"))) {
            notes.filter(note -> note.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
        return pages;
    }
}
