package org.expertpool.harness.cli;

import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.expertpool.plots.BadResultsException;
import org.expertpool.plots.FigureException;
import org.expertpool.plots.Figures;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench plot}: figures from the CSV of finished runs alone. */
@Command(
        name = "plot",
        description = "Redraw the figures of runs from their results.csv alone.",
        mixinStandardHelpOptions = true)
final class PlotCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", arity = "1..*", description = "Result directories.")
    private List<Path> directories;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where the figures go (default: each DIR's own figures folder).")
    private Path out;

    @Option(
            names = "--together",
            description = "Figures of all DIRs at once, runs of one experiment without a cell in common.")
    private boolean together;

    @Override
    public Integer call() throws Exception {
        if (together && out == null) {
            throw new BadInputException("--together without --out, expected a directory for the figures of all");
        }
        if (out != null && directories.size() > 1 && !together) {
            throw new BadInputException("--out " + out + " with " + directories.size()
                    + " directories: expected one, since their figures have the same names");
        }
        if (out != null && Files.exists(out) && !Files.isDirectory(out)) {
            throw new BadInputException("--out " + out + ": is a file, expected a directory");
        }
        for (Path directory : directories) {
            if (!Files.isDirectory(directory)) {
                throw new BadInputException(directory + ": no such directory, expected the results of a run");
            }
        }
        if (together) {
            draw(directories, out);
            return ExitCode.OK;
        }
        for (Path directory : directories) {
            draw(List.of(directory), out == null ? directory.resolve("figures") : out);
        }
        return ExitCode.OK;
    }

    private static void draw(List<Path> runs, Path figures) {
        try {
            List<Path> drawn = Figures.drawTogether(runs, figures);
            drawn.forEach(System.out::println);
            if (drawn.isEmpty()) {
                System.err.println(runs.get(0) + ": nothing to draw");
            }
        } catch (BadResultsException bad) {
            throw new BadInputException(bad.getMessage(), bad);
        } catch (FigureException failed) {
            if (failed.getCause() instanceof FileSystemException unwritable) {
                throw new BadInputException(
                        failed.getMessage() + ": cannot be written ("
                                + unwritable.getClass().getSimpleName() + "), expected a directory that can",
                        failed);
            }
            throw failed;
        }
    }
}
