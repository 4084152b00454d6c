package org.expertpool.harness.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
