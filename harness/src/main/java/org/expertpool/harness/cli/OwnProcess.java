package org.expertpool.harness.cli;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** This command line with other arguments, in a new process of the same runtime and options. */
final class OwnProcess {
    private OwnProcess() {}

    /** Runs it to its end; its notices are shown, what it prints is not. */
    static int run(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(arguments);
        Process child = new ProcessBuilder(command)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.INHERIT)
                .start();
        Thread withThisOne = new Thread(child::destroy);
        Runtime.getRuntime().addShutdownHook(withThisOne);
        try {
            return child.waitFor();
        } catch (InterruptedException stopped) {
            child.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a process ran", stopped);
        } finally {
            Runtime.getRuntime().removeShutdownHook(withThisOne);
        }
    }
}
