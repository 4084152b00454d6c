package org.expertpool.harness.analysis;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
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

    /** Writes and syncs a CSV file per table, beside the folder at first, and puts all in place with one rename. */
    public static void write(Path folder, List<Table> tables) throws IOException {
        requireNew(folder);
        Path target = folder.toAbsolutePath();
        Path temporary = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
        Files.createDirectory(temporary);
        boolean moved = false;
        try {
            for (Table table : tables) {
                write(temporary.resolve(fileName(table)), table.csv());
            }
            Files.deleteIfExists(target);
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            moved = true;
        } finally {
            if (!moved) {
                for (Table table : tables) {
                    Files.deleteIfExists(temporary.resolve(fileName(table)));
                }
                Files.deleteIfExists(temporary);
            }
        }
    }

    private static String fileName(Table table) {
        return table.name() + ".csv";
    }

    private static void write(Path file, String text) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }
}
