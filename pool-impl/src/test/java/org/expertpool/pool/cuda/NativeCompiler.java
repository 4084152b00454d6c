package org.expertpool.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The machine's C and C++ compilers; a test that needs one is skipped, with a message, where it is absent. */
public enum NativeCompiler {
    C("gcc"),
    CXX("g++");

    private final String program;

    NativeCompiler(String program) {
        this.program = program;
    }

    /** Runs the compiler with warnings as errors; fails the test with its output where it fails. */
    public void compile(Path folder, String... arguments) throws IOException, InterruptedException {
        assumeTrue(isInstalled(), program + " is not on the path");
        List<String> command = new ArrayList<>(List.of(program, "-Wall", "-Wextra", "-Werror"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    private boolean isInstalled() {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
