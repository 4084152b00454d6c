package org.expertpool.harness.record;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Result folders named {@code <UTC date>.<n>}, n from 1: a run never overwrites an older one. */
public final class NumberedFolders {
    private static final Pattern NUMBERED = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}\\.[0-9]+");

    private NumberedFolders() {}

    /** Makes the next free {@code <parent>/<date>.<n>}, n from 1. */
    public static Path create(Path parent, LocalDate date) throws IOException {
        Files.createDirectories(parent);
        int n = 1;
        while (!isCreated(parent.resolve(date + "." + n))) {
            n++;
        }
        return parent.resolve(date + "." + n);
    }

    private static boolean isCreated(Path folder) throws IOException {
        try {
            Files.createDirectory(folder);
            return true;
        } catch (FileAlreadyExistsException taken) {
            return false;
        }
    }

    /** The newest {@code <parent>/<date>.<n>}; empty where there is none. */
    public static Optional<Path> newest(Path parent) throws IOException {
        if (!Files.isDirectory(parent)) {
            return Optional.empty();
        }
        try (Stream<Path> folders = Files.list(parent)) {
            return folders.filter(folder ->
                            NUMBERED.matcher(folder.getFileName().toString()).matches())
                    .max(Comparator.comparing(NumberedFolders::date).thenComparing(NumberedFolders::number));
        }
    }

    private static String date(Path folder) {
        return folder.getFileName().toString().substring(0, 10);
    }

    private static long number(Path folder) {
        return Long.parseLong(folder.getFileName().toString().substring(11));
    }
}
