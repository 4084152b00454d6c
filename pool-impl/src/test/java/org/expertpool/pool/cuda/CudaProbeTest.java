package org.expertpool.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The probe in a JVM of its own, with a stub driver, with broken ones, and with none. */
class CudaProbeTest {
    @TempDir
    Path folder;

    /** What the child JVM runs. */
    static final class PrintStatus {
        public static void main(String[] arguments) {
            CudaStatus status = CudaProbe.probe();
            CudaStatus again = CudaProbe.probe(); // commands ask more than once
            System.out.println(again.equals(status) ? status : status + ", then " + again);
        }
    }

    @Test
    void describesTheDevicesOfAStubAndCallsItAStub() throws Exception {
        Path stub = compileStub();
        String status = probe(Map.of("STUB_DEVICES", "2"));
        assertThat(status)
                .isEqualTo("Available[driverKind=STUB, library=" + stub + ", cudaVersion=13.0, devices=["
                        + "CudaDevice[index=0, name=stub device 0, computeMajor=75, computeMinor=76,"
                        + " multiprocessors=16, sharedBytes=97, memoryBytes=5368709120, pciBusId=0000:01:00.0], "
                        + "CudaDevice[index=1, name=stub device 1, computeMajor=75, computeMinor=76,"
                        + " multiprocessors=16, sharedBytes=97, memoryBytes=5368709121, pciBusId=0000:02:00.0]]]");
    }

    @Test
    void leavesNothingInTheSharedTemporaryFolder() throws Exception {
        compileStub();
        probe(Map.of());
        try (Stream<Path> left = Files.list(temporary())) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void reportsADriverWithoutDevices() throws Exception {
        Path stub = compileStub();
        assertThat(probe(Map.of("STUB_DEVICES", "0"))).isEqualTo("Missing[reason=" + stub + " has no device]");
    }

    @Test
    void reportsADriverThatDoesNotInitialise() throws Exception {
        Path stub = compileStub();
        assertThat(probe(Map.of("STUB_INIT", "999")))
                .isEqualTo("Missing[reason=" + stub + ": cuInit: CUDA_ERROR_UNKNOWN (999)]");
    }

    @Test
    void reportsAFileThatIsNoLibrary() throws Exception {
        Path broken = Files.writeString(library(), "not a library");
        assertThat(probe(Map.of())).isEqualTo("Missing[reason=" + broken + " does not load: file too short]");
    }

    @Test
    void passesOverAFolderOfThatName() throws Exception {
        Files.createDirectories(library());
        assertThat(DriverLibrary.find(library().getParent().toString())).isNotEqualTo(Optional.of(library()));
    }

    @Test
    void reportsThatThereIsNoDriver() throws Exception {
        assumeTrue(DriverLibrary.find("").isEmpty(), "a driver is installed here: its absence can't be tested");
        assertThat(probe(Map.of()))
                .isEqualTo("Missing[reason=no libcuda.so.1 in LD_LIBRARY_PATH, the linker cache or /usr/lib]");
    }

    private Path library() throws IOException {
        return Files.createDirectories(folder.resolve("driver")).resolve("libcuda.so.1");
    }

    private Path temporary() throws IOException {
        return Files.createDirectories(folder.resolve("tmp"));
    }

    private Path compileStub() throws Exception {
        Path library = library();
        Path source = Path.of("src/test/c/stub_driver.c").toAbsolutePath();
        NativeCompiler.C.compile(folder, "-shared", "-fPIC", source.toString(), "-o", library.toString());
        return library;
    }

    private String probe(Map<String, String> environment) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of("-Xmx64m", "-Djava.io.tmpdir=" + temporary(), "-cp", System.getProperty("java.class.path")));
        command.add(PrintStatus.class.getName());
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LD_LIBRARY_PATH", library().getParent().toString());
        builder.environment().putAll(environment);
        Process child = builder.start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(output).isZero();
        return output.strip();
    }
}
