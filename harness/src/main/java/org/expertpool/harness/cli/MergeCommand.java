package org.expertpool.harness.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.expertpool.harness.run.ShardMerge;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench merge}: the shards of a run, put together. */
@Command(
        name = "merge",
        description = "Put the finished shards of a run together, as if one run had made them.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "The shards stay as they are. Exit code: 0 done, 1 a cell or a check failed, 2 bad input, a missing shard",
            "or shards of different runs: nothing is written then."
        })
final class MergeCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", arity = "1..*", description = "All shards, in any order.")
    private List<Path> shards;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "A new directory for the whole.")
    private Path out;

    @Option(names = "--json", description = "Print one JSON object instead of the table, as run does.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        boolean success = new ShardMerge(System.out, System.err, json).merge(shards, out);
        return success ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
