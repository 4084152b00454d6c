package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.expertpool.harness.verify.SmallCheckpoint;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.bank.SyntheticExperts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelWeightsTest {
    @TempDir
    Path root;

    private final ExpertRowLayout layout = new ExpertRowLayout(128, 64);

    /** A checkpoint's rows, whatever the seed; a preset's rows by the seed. */
    @Test
    void takesTheExpertsOfACheckpoint() throws IOException {
        Path folder = root.resolve("models/small");
        java.nio.file.Files.createDirectories(folder);
        SmallCheckpoint.write(folder, 0f);
        RepositoryFiles files = new RepositoryFiles(root, Optional.empty());
        ModelWeights weights = ModelWeights.of("models/small", files);
        HostSource expected = new SyntheticExperts(3, 2, 8, layout).hostSource();
        for (long seed : new long[] {1, 2}) {
            HostSource source = weights.experts(seed, SlabAllocator.DIRECT, layers -> {});
            assertThat(source.row(1, 7)).isEqualTo(expected.row(1, 7));
            assertThat(source.alphas()).isEqualTo(expected.alphas());
        }
        assertThat(weights.source()).startsWith("checkpoint small, headers sha256 ");
        assertThat(ModelWeights.label("models/small")).isEqualTo("small");
    }

    @Test
    void seedsTheExpertsOfAPreset() {
        RepositoryFiles files = new RepositoryFiles(root, Optional.empty());
        ModelWeights weights = ModelWeights.of("tiny", files);
        HostSource first = weights.experts(1, SlabAllocator.DIRECT, layers -> {});
        assertThat(weights.experts(2, SlabAllocator.DIRECT, layers -> {}).row(0, 0))
                .isNotEqualTo(first.row(0, 0));
        assertThat(weights.source()).isEqualTo("seeded experts of model tiny");
        assertThatThrownBy(() -> ModelWeights.of("models/none", files))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("model models/none: expected one of");
    }
}
