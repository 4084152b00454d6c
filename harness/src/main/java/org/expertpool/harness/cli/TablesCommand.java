package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.tables.RecordedTables;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench tables}: the tables of Markdown pages, from recorded results. */
@Command(
        name = "tables",
        description = "Fill the marked tables of Markdown pages from recorded results.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "A table stands between two comments, each a line of its own:",
            "  <!-- table SOURCE columns=NAME[=HEADING],... [where=NAME=VALUE|VALUE,...] -->",
            "  <!-- end table -->",
            "SOURCE is a result folder or a CSV file, relative to the page, NAME a column; _ stands for a space.",
            "A line is a cell of the run, its numbers medians over repetitions; of another CSV file, a line of it."
        })
final class TablesCommand implements Callable<Integer> {
    @Parameters(paramLabel = "PAGE.md", arity = "1..*", description = "Pages to fill, in place.")
    private List<Path> pages;

    @Option(names = "--check", description = "Write nothing; exit with 1 where a table is not as its results say.")
    private boolean check;

    @Override
    public Integer call() throws IOException {
        List<String> before = new ArrayList<>();
        List<String> after = new ArrayList<>();
        for (Path page : pages) {
            before.add(read(page));
            after.add(new RecordedTables(page).fill(before.get(before.size() - 1)));
        }
        int stale = 0;
        for (int i = 0; i < pages.size(); i++) {
            if (!before.get(i).equals(after.get(i))) {
                stale++;
                System.out.println(pages.get(i) + (check ? ": differs from its results" : ": filled"));
                if (!check) {
                    AtomicFile.write(pages.get(i), after.get(i).getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        return check && stale > 0 ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    private static String read(Path page) throws IOException {
        try {
            return Files.readString(page);
        } catch (NoSuchFileException missing) {
            throw new BadInputException(page + ": no such file, expected a Markdown page", missing);
        }
    }
}
