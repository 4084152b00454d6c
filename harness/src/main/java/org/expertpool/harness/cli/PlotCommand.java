package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
            description =
                    "Where the figures go, of several DIRs each into a folder with its name (default: each DIR's own"
                            + " figures folder).")
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
        List<Path> targets = targets();
        for (int i = 0; i < directories.size(); i++) {
            draw(List.of(directories.get(i)), targets.get(i));
        }
        return ExitCode.OK;
    }

    /** A folder for the figures of each run: those of several runs have the same names. */
    private List<Path> targets() throws IOException {
        if (out == null) {
            return directories.stream()
                    .map(directory -> directory.resolve("figures"))
                    .toList();
        }
        if (directories.size() == 1) {
            return List.of(out);
        }
        List<Path> targets = new ArrayList<>();
        for (Path directory : directories) {
            Path real = directory.toRealPath(); // NAME/DATE.N of a run in its place
            Path parent = real.getParent() == null ? null : real.getParent().getFileName();
            Path target = out.resolve((parent == null ? "" : parent + "-") + real.getFileName());
            if (targets.contains(target)) {
                throw new BadInputException("--out " + out + ": figures of " + directory + " would lie in " + target
                        + " as those of another, expected directories of different names");
            }
            targets.add(target);
        }
        return targets;
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
