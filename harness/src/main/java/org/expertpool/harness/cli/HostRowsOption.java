package org.expertpool.harness.cli;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.expertpool.harness.rows.HostRows;
import picocli.CommandLine.Option;

/** Where commands that use a device keep expert rows between processes. */
final class HostRowsOption {
    @Option(
            names = "--host-rows",
            paramLabel = "DIR",
            defaultValue = "${env:EXPERTPOOL_HOST_ROWS}",
            description =
                    "With --backend cuda: keep expert rows in files there, best on /dev/shm; the first process makes"
                            + " them, later ones map them (default: $EXPERTPOOL_HOST_ROWS, or memory of the process).")
    private Path folder;

    HostRows rows(Consumer<String> notices) {
        return new HostRows(Optional.ofNullable(folder), notices);
    }
}
