package org.expertpool.harness.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What a short command of the machine prints. */
final class CommandOutput {
    private static final long LIMIT_SECONDS = 10;

    private CommandOutput() {}

    /** Standard output without surrounding blanks; empty where the command is absent, fails or takes too long. */
    static Optional<String> of(Path folder, String... command) {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException absent) {
            return Optional.empty();
        }
        CompletableFuture<byte[]> output = CompletableFuture.supplyAsync(() -> read(process));
        try {
            byte[] bytes = output.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            return ended && process.exitValue() == 0
                    ? Optional.of(new String(bytes, StandardCharsets.UTF_8).strip())
                    : Optional.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (ExecutionException | TimeoutException tooLong) {
            return Optional.empty();
        } finally {
            process.destroyForcibly();
        }
    }

    private static byte[] read(Process process) {
        try {
            return process.getInputStream().readAllBytes();
        } catch (IOException closed) {
            return new byte[0];
        }
    }
}
