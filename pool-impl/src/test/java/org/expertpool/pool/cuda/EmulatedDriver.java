package org.expertpool.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The emulated driver, compiled once a test JVM, and programs that run on it in JVMs of their own; for other modules too. */
public final class EmulatedDriver {
    private EmulatedDriver() {}

    /** Compiled at first use. */
    private static final class Holder {
        static final Path FOLDER = compile();
    }

    /** Skips the test, with a message, where the driver can't be built or the kernels were not. */
    public static void require() {
        assumeTrue(Files.isDirectory(kernels()), "kernels-cu's sources are not beside this module");
        assumeTrue(KernelBinary.describe() instanceof KernelBinary.Built, "the kernels were not built: no nvcc here");
        assertThat(Holder.FOLDER.resolve("libcuda.so.1")).isRegularFile();
    }

    /** Lines of the program's standard output, then those of standard error that the driver printed. */
    public static List<String> run(Class<?> program, List<String> arguments, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path errors = Files.createTempFile(Holder.FOLDER, "errors", ".txt");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
        command.add(program.getName());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().put("LD_LIBRARY_PATH", Holder.FOLDER.toString());
        builder.environment().putAll(environment);
        Process child = builder.start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String error = Files.readString(errors);
        assertThat(child.waitFor()).as(output + error).isZero();
        return (output + error)
                .lines()
                // From JDK 24 on, loading a native library is warned of, and a blank line ends the warning.
                .filter(line -> !line.isBlank() && !line.startsWith("WARNING") && !line.startsWith("NOTE: "))
                .toList();
    }

    private static Path kernels() {
        return Path.of("../kernels-cu").toAbsolutePath().normalize();
    }

    private static Path compile() {
        try {
            Path folder = Files.createTempDirectory("emulated-driver");
            Path library = folder.resolve("libcuda.so.1");
            library.toFile().deleteOnExit();
            NativeCompiler.CXX.compile(
                    folder,
                    "-std=c++17",
                    "-O2",
                    "-shared",
                    "-fPIC",
                    "-Wno-unknown-pragmas",
                    "-I" + kernels().resolve("include"),
                    "-I" + kernels().resolve("src"),
                    "-I" + kernels().resolve("test"),
                    Path.of("../pool-impl/src/test/cpp/emulated_driver.cpp")
                            .toAbsolutePath()
                            .normalize()
                            .toString(),
                    "-o",
                    library.toString());
            return folder;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException failure) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the driver was compiled", failure);
        }
    }
}
