package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.expertpool.harness.compare.Comparison;
import org.expertpool.harness.compare.ComparisonJson;
import org.expertpool.harness.compare.ComparisonTable;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench compare}: two runs cell by cell. */
@Command(
        name = "compare",
        description = "Compare two runs cell by cell: ratio B/A of medians with a 95 %% bootstrap interval.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Verdict: faster or slower if the interval lies wholly beyond 1 +- margin, same if wholly inside, else",
            "undecided; fewer than 3 repetitions on either side: undecided. Faster means better, whichever way the",
            "metric runs. Counts, sizes and hashes are compared exactly: equal or different."
        })
final class CompareCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "DIR_A", description = "The baseline.")
    private Path a;

    @Parameters(index = "1", paramLabel = "DIR_B", description = "What is compared with it.")
    private Path b;

    @Option(
            names = "--margin",
            paramLabel = "SHARE",
            defaultValue = "0.01",
            description = "Half-width of the band that counts as the same (default: ${DEFAULT-VALUE}).")
    private double margin;

    @Option(names = "--fail-on", paramLabel = "slower", description = "Exit with 1 if any verdict is slower.")
    private String failOn;

    @Option(names = "--json", description = "Print JSON instead of the table.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        if (!(margin >= 0 && margin < 1)) {
            throw new BadInputException("--margin is " + margin + ", expected at least 0 and below 1");
        }
        if (failOn != null && !failOn.equals("slower")) {
            throw new BadInputException("--fail-on is '" + failOn + "', expected slower");
        }
        Comparison comparison = Comparison.of(rows(a), rows(b), margin);
        if (failOn != null && !comparison.hasCellInBoth()) { // a gate that would hold whatever the runs say
            throw new BadInputException("no cell is in both: %s has %s, %s has %s, expected runs with cells in common"
                    .formatted(a, some(comparison.onlyInA()), b, some(comparison.onlyInB())));
        }
        System.out.print(json ? ComparisonJson.of(comparison) : ComparisonTable.of(comparison));
        return failOn != null && comparison.hasSlower() ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    private static String some(List<String> cells) {
        return switch (cells.size()) {
            case 0 -> "none";
            case 1 -> "'" + cells.get(0) + "'";
            default -> "'" + cells.get(0) + "' and " + (cells.size() - 1) + " more";
        };
    }

    /** A row that stands twice would count as a repetition more; what a fit writes has each cell on two bases. */
    private static List<ResultRow> rows(Path directory) throws IOException {
        List<ResultRow> rows = ResultsCsv.readDirectory(directory);
        Set<String> seen = new HashSet<>();
        for (ResultRow row : rows) {
            if (!row.text("basis").equals("reported") && !seen.add(row.text("cell") + "#" + row.text("repetition"))) {
                throw new BadInputException(directory.resolve(ResultsSchema.FILE_NAME) + ": repetition "
                        + row.text("repetition") + " of cell " + row.text("cell")
                        + " stands twice, expected a run, with each once");
            }
        }
        return rows;
    }
}
