package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.expertpool.harness.exact.EngineRun;
import org.expertpool.harness.io.FileHash;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.Traces;
import org.expertpool.harness.verify.SmallCheckpoint;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.marlin.ActivationType;
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
        Files.createDirectories(folder);
        SmallCheckpoint.write(folder, 0f);
        RepositoryFiles files = new RepositoryFiles(root, Optional.empty());
        ModelWeights weights = ModelWeights.of("models/small", ActivationType.BF16, files);
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
        ModelWeights weights = ModelWeights.of("tiny", ActivationType.BF16, files);
        HostSource first = weights.experts(1, SlabAllocator.DIRECT, layers -> {});
        assertThat(weights.experts(2, SlabAllocator.DIRECT, layers -> {}).row(0, 0))
                .isNotEqualTo(first.row(0, 0));
        assertThat(weights.source()).isEqualTo("seeded experts of model tiny");
        assertThatThrownBy(() -> ModelWeights.of("models/none", ActivationType.BF16, files))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("model models/none: expected one of");
    }

    /** From definition to rows: the outputs of the checkpoint's experts, and of no others. */
    @Test
    void runsAnExperimentOnACheckpoint() throws IOException {
        SmallCheckpoint.write(Files.createDirectories(root.resolve("models/small")), 0f);
        Path trace = Files.writeString(root.resolve("routes.csv"), """
                seq,pos,layer,e0,e1,w0,w1
                0,0,0,1,5,0.7,0.3
                0,0,1,0,7,0.6,0.4
                0,1,0,5,6,0.5,0.5
                0,1,1,2,7,0.9,0.1
                0,2,0,1,4,0.8,0.2
                0,2,1,3,2,0.5,0.5
                """);
        Path definition = Files.writeString(root.resolve("small.toml"), """
                name = "small"
                question = "Are outputs equal?"
                expectation = "To the last bit."
                model = "models/small"
                [trace]
                file = "routes.csv"
                sha256 = "%s"
                [window.cold]
                initial = "first-n"
                [[matrix]]
                engine = "resident"
                [[matrix]]
                policy = "lru"
                rows = [2, 5]
                [[check]]
                name = "as resident"
                equal = "output_sha256"
                reference = { engine = "resident" }
                """.formatted(FileHash.sha256(trace)));
        Path out = root.resolve("out");
        PrintStream quiet = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        assertThat(new Experiments(quiet, quiet).run(Definitions.request(definition, "java", out)))
                .isTrue();
        HostSource expected = new SyntheticExperts(3, 2, 8, layout).hostSource();
        EngineRun.Result replayed;
        try (RoutingTrace routes = Traces.open(trace)) {
            replayed = EngineRun.replay(
                    routes,
                    ScoreWindow.all(),
                    new ResidentEngine(expected, 2),
                    ActivationType.BF16,
                    layout.hidden(),
                    1,
                    () -> {});
        }
        assertThat(ResultsCsv.readDirectory(out))
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.text("output_sha256")).isEqualTo(replayed.outputSha256()))
                .allSatisfy(row -> assertThat(row.text("model")).isEqualTo("small"));
    }
}
