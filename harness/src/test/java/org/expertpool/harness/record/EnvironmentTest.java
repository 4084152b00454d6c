package org.expertpool.harness.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnvironmentTest {
    @TempDir
    private Path folder;

    @Test
    void outsideACheckoutTheRevisionIsNull() throws IOException {
        JsonNode environment = Environment.collect(folder);
        assertThat(environment.at("/code/git_revision").isNull()).isTrue();
        assertThat(environment.at("/code/git_dirty").isNull()).isTrue();
        assertThat(Environment.revision(folder)).isEmpty();
    }

    @Test
    void codeAndMachineAreNamedWithoutPaths() throws IOException {
        JsonNode environment = Environment.collect(folder);
        assertThat(environment.at("/code/harness_sha256").asText()).matches("[0-9a-f]{64}");
        assertThat(environment.at("/code/kernel_sources_sha256").isNull())
                .isEqualTo(environment.at("/code/kernels_sha256").isNull());
        assertThat(environment.at("/java/version").asText()).isEqualTo(System.getProperty("java.version"));
        assertThat(environment.at("/host/logical_cores").asInt()).isPositive();
        assertThat(environment.toString()).doesNotContain(System.getProperty("user.dir"));
    }
}
