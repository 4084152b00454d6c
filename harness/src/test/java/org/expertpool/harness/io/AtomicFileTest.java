package org.expertpool.harness.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
    @TempDir
    Path folder;

    @Test
    void appearsAtTheCommitAndNotBefore() throws IOException {
        Path target = Files.writeString(folder.resolve("t"), "old");
        try (AtomicFile file = AtomicFile.create(target)) {
            file.stream().write(new byte[] {'n', 'e'});
            try (OutputStream more = file.stream()) {
                more.write('w');
            }
            assertThat(target).hasContent("old");
            file.commit();
            assertThat(target).hasContent("new");
        }
        assertThat(target).hasContent("new");
        assertThat(names()).containsExactly("t");
    }

    @Test
    void leavesNothingWithoutACommit() throws IOException {
        try (AtomicFile file = AtomicFile.create(folder.resolve("t"))) {
            file.stream().write('x');
            assertThat(names()).hasSize(1);
        }
        assertThat(names()).isEmpty();
    }

    /** Readable as any other new file is, unlike Java's temporary files. */
    @Test
    void hasThePermissionsOfAnOrdinaryFile() throws IOException {
        Path ordinary = Files.writeString(folder.resolve("ordinary"), "");
        Path target = folder.resolve("t");
        AtomicFile.write(target, new byte[0]);
        assertThat(Files.getPosixFilePermissions(target)).isEqualTo(Files.getPosixFilePermissions(ordinary));
    }

    @Test
    void refusesWhatCannotBeAFile() {
        assertThatThrownBy(() -> AtomicFile.create(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessage("output " + folder + ": is a directory, expected a file name");
        Path inNone = folder.resolve("none").resolve("t");
        assertThatThrownBy(() -> AtomicFile.create(inNone))
                .isInstanceOf(BadInputException.class)
                .hasMessage("output " + inNone + ": directory " + inNone.getParent() + " does not exist");
    }

    @Test
    void whatCannotBeWrittenIsNamedAndNotItsTemporaryFile() throws IOException {
        Path proc = Path.of("/proc/t");
        assumeThat(proc.getParent()).isDirectory();
        assertThatThrownBy(() -> AtomicFile.create(proc))
                .isInstanceOf(BadInputException.class)
                .hasMessage("output /proc/t: directory /proc takes no file: no such file");
        Path target = folder.resolve("t");
        AtomicFile file = AtomicFile.create(target);
        file.close();
        assertThatThrownBy(() -> file.stream().write('x'))
                .isInstanceOf(IOException.class)
                .hasMessage("output " + target + ": closed channel");
    }

    /** Killed by SIGTERM with bytes written: what a trace of gigabytes would leave otherwise. */
    @Test
    void aSignalLeavesNothing() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx32m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AtomicFileTest.class.getName(),
                        folder.resolve("t").toString())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(child.getInputStream().read()).isEqualTo('w');
            assertThat(names()).hasSize(1);
        } finally {
            child.destroy();
        }
        child.waitFor();
        assertThat(names()).isEmpty();
    }

    /** The program of that process: writes, says so, and waits for its end. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (AtomicFile file = AtomicFile.create(Path.of(arguments[0]))) {
            file.stream().write(new byte[100]);
            System.out.println("written");
            Thread.sleep(60_000);
        }
    }

    /** By `printf abc | sha256sum`. */
    @Test
    void hashesAFilesBytes() throws IOException {
        Path file = Files.writeString(folder.resolve("t"), "abc");
        assertThat(FileHash.sha256(file)).isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    private Stream<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList().stream();
        }
    }
}
