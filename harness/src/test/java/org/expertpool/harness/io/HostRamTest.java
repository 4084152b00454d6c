package org.expertpool.harness.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostRamTest {
    @TempDir
    Path folder;

    /** The smaller of what the kernel has left and what the control group may have. */
    @ParameterizedTest
    @CsvSource({"max, 4096000", "1000000, 1000000", "9000000, 4096000"})
    void refusesMoreThanThereIs(String limit, long most) throws IOException {
        Path meminfo = Files.writeString(
                folder.resolve("meminfo"), "MemTotal:       99999 kB\nMemAvailable:    4000 kB\nBuffers: 7 kB\n");
        Path max = Files.writeString(folder.resolve("max"), limit + "\n");
        assertThat(HostRam.available(meminfo, max)).hasValue(most);
        assertThatCode(() -> HostRam.require("rows", most, meminfo, max)).doesNotThrowAnyException();
        assertThatThrownBy(() -> HostRam.require("rows", most + 1, meminfo, max))
                .isInstanceOf(BadInputException.class)
                .hasMessage("rows take " + (most + 1) + " bytes of host memory, expected at most the " + most
                        + " that are available");
    }

    @Test
    void takesAnythingWhereTheSystemIsSilent() {
        Path nowhere = folder.resolve("nowhere");
        assertThat(HostRam.available(nowhere, nowhere)).isEmpty();
        assertThatCode(() -> HostRam.require("rows", Long.MAX_VALUE, nowhere, nowhere))
                .doesNotThrowAnyException();
    }
}
