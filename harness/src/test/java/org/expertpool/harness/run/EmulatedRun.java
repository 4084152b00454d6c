package org.expertpool.harness.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.rows.HostRows;

/**
 * What the child JVM of {@link CudaBackendTest} runs: a definition on the device, into a folder that may hold part of the
 * run already, with the rows in a file where a third argument names their folder. Prints what became of each cell.
 */
final class EmulatedRun {
    private EmulatedRun() {}

    public static void main(String[] arguments) throws Exception {
        Path out = Path.of(arguments[1]);
        Optional<Path> kept = arguments.length > 2 ? Optional.of(Path.of(arguments[2])) : Optional.empty();
        HostRows rows = new HostRows(kept, line -> System.out.println(line.replaceAll("[0-9.]+ (GiB|s$)", "_ $1")));
        new Experiments(System.err, System.err, rows, other -> {
                    throw new IllegalStateException("another process: " + other);
                })
                .run(new Experiments.Request(
                        Path.of(arguments[0]),
                        "cuda",
                        Optional.of(out),
                        Files.isDirectory(out),
                        Optional.empty(),
                        OptionalInt.empty(),
                        List.of(),
                        false,
                        false));
        for (ResultRow row : ResultsCsv.readDirectory(out)) {
            System.out.println(row.text("cell") + ": " + row.text("status") + " " + row.text("reason"));
        }
    }
}
