package org.expertpool.harness.cli;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.run.DecodeBreakdown;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench breakdown}: where the time of measured decode cells goes. */
@Command(
        name = "breakdown",
        description = "Where the time of a decode layer goes, and how far it lies above its floor.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Takes the measured cells of one token a forward, engines resident and pool; all by differences of measurements:",
            "dense: reads beside the experts, by resident cells with and without; hits: the layer with all experts resident;",
            "planner: what a pool without a miss adds; copies: what the cell's misses add, by layers with imposed misses;",
            "launches: without a graph less with one; other: what is left. The floor is dense and, of each layer call, the",
            "longer of its rows' time on the link and hits."
        })
final class BreakdownCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", arity = "1..*", description = "Results of finished runs.")
    private List<Path> directories;

    @Option(
            names = "--layers",
            paramLabel = "LAYER.csv",
            required = true,
            description = "The layers with imposed misses, as bench --backend cuda writes them.")
    private Path layers;

    @Option(names = "--out", paramLabel = "FILE.csv", description = "Write the table there as well.")
    private Path out;

    @Override
    public Integer call() throws Exception {
        Table table = DecodeBreakdown.of(directories, layers);
        System.out.print(table.markdown());
        if (out != null) {
            Files.createDirectories(out.toAbsolutePath().getParent());
            AtomicFile.write(out, table.csv().getBytes(StandardCharsets.UTF_8));
        }
        return ExitCode.OK;
    }
}
