package org.expertpool.harness.analysis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;

/** A folder of CSV files that appears whole or not at all. */
public final class AnalysisFiles {
    private AnalysisFiles() {}

    /** Refuses a folder that holds something already, or that cannot be made. */
    public static void requireNew(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new BadInputException("--out " + folder + ": directory " + parent + " does not exist");
        }
        if (Files.exists(folder)) {
            if (!Files.isDirectory(folder)) {
                throw new BadInputException("--out " + folder + ": is a file, expected a new or empty directory");
            }
            try (Stream<Path> content = Files.list(folder)) {
                if (content.findAny().isPresent()) {
                    throw new BadInputException("--out " + folder + ": is not empty, expected a new directory");
                }
            }
        }
    }

    /** Writes a CSV file per table, beside the folder at first, and puts all in place with one rename. */
    public static void write(Path folder, List<Table> tables) throws IOException {
        requireNew(folder);
        Path target = folder.toAbsolutePath();
        Path temporary = Files.createTempDirectory(target.getParent(), ".poolbench");
        List<Path> written = new ArrayList<>();
        try {
            for (Table table : tables) {
                Path file = temporary.resolve(table.name() + ".csv");
                written.add(file);
                Files.writeString(file, table.csv());
            }
            Files.deleteIfExists(target);
            Files.move(temporary, target);
        } catch (IOException failure) {
            for (Path file : written) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(temporary);
            throw failure;
        }
    }
}
