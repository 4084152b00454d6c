package org.expertpool.harness.doctor;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs on a search path. */
final class Commands {
    private static final long PATIENCE_SECONDS = 20;

    private final String searchPath;

    Commands(String searchPath) {
        this.searchPath = searchPath;
    }

    Optional<Path> find(String program) {
        return Arrays.stream(searchPath.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** What the program prints, or empty where it is absent, fails, hangs or prints nothing. */
    Optional<String> output(String program, String... arguments) {
        Optional<Path> path = find(program);
        if (path.isEmpty()) {
            return Optional.empty();
        }
        Path printed = null;
        try {
            printed = Files.createTempFile("poolbench-doctor", ".txt");
            ProcessBuilder builder = new ProcessBuilder(path.get().toString());
            builder.command().addAll(List.of(arguments));
            Process process = builder.redirectErrorStream(true)
                    .redirectOutput(printed.toFile())
                    .start();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.empty();
            }
            String output = Files.readString(printed, StandardCharsets.UTF_8).strip();
            return process.exitValue() == 0 && !output.isEmpty() ? Optional.of(output) : Optional.empty();
        } catch (IOException failure) {
            return Optional.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            deleteQuietly(printed);
        }
    }

    private static void deleteQuietly(Path file) {
        if (file == null) {
            return;
        }
        try {
            Files.deleteIfExists(file);
        } catch (IOException left) {
            file.toFile().deleteOnExit();
        }
    }
}
