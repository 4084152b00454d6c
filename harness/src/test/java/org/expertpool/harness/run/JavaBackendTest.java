package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Experiments with real arithmetic from definition to exit, and that a wrong byte does not pass. */
class JavaBackendTest {
    private static final String DEFINITION = """
            name = "exact"
            question = "Are outputs equal?"
            expectation = "To the last bit."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 40
            prefill_tokens = 5

            [window.warm]
            initial = "first-n"
            score_from = 3

            [axes]
            seed = [1, 2]
            window = "warm"

            [[matrix]]
            engine = "resident"

            [[matrix]]
            policy = "lru"
            decode_tokens = [1, 8]
            rows = [4, 9, 15]
            control.promoteLimit = [0, 1]

            [[matrix]]
            policy = "lru"
            decode_tokens = [1]
            rows = [9]
            control.protectRecent = [1]

            [[check]]
            name = "as resident"
            where = { basis = "measured" }
            equal = "output_sha256"
            reference = { engine = "resident" }
            per = ["seed"]
            """;

    /** Misses split by bounds, which take simulations of their own. */
    private static final List<String> OF_THE_MODEL_ALONE =
            List.of("compulsory_misses", "capacity_misses", "admission_misses", "victim_misses");

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private Path out;
    private ActivationType type = ActivationType.BF16; // of expectedHash

    @BeforeEach
    void setUp() {
        out = folder.resolve("out");
    }

    @Test
    void everyPlacementGivesTheOutputsOfAllExpertsResident() throws IOException {
        assertThat(run(DEFINITION, ExpertPool::installPoisoned)).isTrue();
        assertThat(printed()).contains("Rows: ok 28.", "as resident - holds, 28 rows");
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        for (String seed : List.of("1", "2")) {
            assertThat(rows.stream().filter(row -> row.text("seed").equals(seed)))
                    .extracting(row -> row.text("output_sha256"))
                    .hasSize(14)
                    .containsOnly(expectedHash(Long.parseLong(seed)));
        }
        assertThat(rows.get(0).text("output_sha256")).isNotEqualTo(rows.get(1).text("output_sha256"));
        assertThat(rows.get(0).values())
                .containsEntry("cell", "engine=resident,seed=1")
                .containsEntry("basis", "measured")
                .containsEntry("backend", "java")
                .doesNotContainKeys("rows_per_layer", "policy", "scope", "hit_ratio");
        assertThat(rows.get(0).text("device")).startsWith("JVM ");
    }

    @Test
    void computesInTheTypeThatTheDefinitionNames() throws IOException {
        assertThat(run("activations = \"fp16\"\n" + DEFINITION, ExpertPool::installPoisoned))
                .isTrue();
        String bf16 = expectedHash(1);
        type = ActivationType.FP16;
        String fp16 = expectedHash(1);
        assertThat(fp16).isNotEqualTo(bf16);
        assertThat(ResultsCsv.readDirectory(out).stream()
                        .filter(row -> row.text("seed").equals("1")))
                .hasSize(14)
                .allSatisfy(row -> assertThat(row.text("output_sha256")).isEqualTo(fp16))
                .allSatisfy(row -> assertThat(row.text("activations")).isEqualTo("fp16"));
    }

    @Test
    void countsAreTheSimulationsAndBothPathsAreTaken() throws IOException {
        run(DEFINITION, ExpertPool::installPoisoned);
        Definition definition = Definitions.read(folder, DEFINITION);
        for (ResultRow row : ResultsCsv.readDirectory(out)) {
            Cell cell = definition.cell(row.text("cell")).orElseThrow();
            if (cell.isPool()) {
                ResultRow.Builder modelled = ResultRow.builder();
                try (ModelBackend model = new ModelBackend(definition, traces(definition))) {
                    model.measure(cell, 1, modelled);
                }
                modelled.build().values().forEach((column, value) -> {
                    if (!OF_THE_MODEL_ALONE.contains(column)) {
                        assertThat(row.text(column)).as(column).isEqualTo(value);
                    }
                });
                assertThat(row.text("partition_forwards").equals("0")).isEqualTo(cell.decodeTokens() == 8);
                assertThat(row.number("promoted").orElseThrow()).isPositive();
            }
        }
    }

    @Test
    void aCorruptedExpertBreaksTheCheckInTheCellsOfItsPool() throws IOException {
        assertThat(run(DEFINITION, request -> ExpertPool.installPoisoned(withSource(request, new Corrupted(request)))))
                .isFalse();
        assertThat(printed())
                .contains("Rows: ok 28.", "as resident - FAILS, 28 rows")
                .contains("rows=15 has another output_sha256 than engine=resident,seed=1");
    }

    @Test
    void aCorruptedBankRowFailsItsCells() throws IOException {
        assertThat(run(DEFINITION, request -> {
                    ExpertPool pool = ExpertPool.installPoisoned(request);
                    for (int row = 0; row < pool.config().poolRows(); row++) {
                        pool.bank().fill(row, (byte) 0);
                    }
                    return pool;
                }))
                .isFalse();
        assertThat(printed()).contains("ok 2, failed 26").contains("differs from its host row at byte 0");
    }

    @Test
    void aPoolThatCountsOtherwiseThanTheSimulationFails() throws IOException {
        Function<PoolRequest, ExpertPool> larger = request -> ExpertPool.install(new PoolRequest(
                request.rows() - 1,
                request.maxDecodeTokens(),
                request.layers(),
                request.quantisation(),
                request.consumer(),
                request.parallelism(),
                request.source(),
                request.memory()));
        assertThat(run(DEFINITION.replace("rows = [4, 9, 15]", "rows = [9]"), larger))
                .isFalse();
        assertThat(printed()).contains("hits of the pool's own plans: ", " as simulated");
    }

    @Test
    void whatTheJavaEngineCannotDoIsRefusedWithTheReason() throws IOException {
        refused("model qwen3-30b-a3b has ", "model=qwen3-30b-a3b");
        refused("policy is static.profile, expected evict.lru", "policy=static");
        refused("scope is layer, expected global", "scope=layer");
        refused("initial is empty, expected first-n", "window.warm.initial=empty");
        refused("graph_mode is piecewise, expected none", "graph_mode=piecewise", "device=h200");
        refused("multiply-adds in model tiny, expected at most 2e+10", "trace.forwards=100000");
        refused("expected 8 x 128, 8 as in model tiny-moe", "model=tiny-moe");
        refused("min(rows, experts - 1) = 3", "rows=3");
    }

    private void refused(String reason, String... settings) throws IOException {
        String pools = DEFINITION.replace("[[matrix]]\nengine = \"resident\"\n", "");
        Definition definition = Definitions.read(folder, pools, settings);
        try (JavaBackend backend = new JavaBackend(definition, traces(definition))) {
            assertThatThrownBy(() -> backend.measure(definition.cells().get(0), 1, ResultRow.builder()))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining(reason);
        }
    }

    private boolean run(String toml, Function<PoolRequest, ExpertPool> installer) throws IOException {
        Path file = Files.writeString(folder.resolve("exact.toml"), toml);
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        return new Experiments(stream, stream)
                .run(
                        Definitions.request(file, "java", out),
                        (definition, traces) -> new JavaBackend(definition, traces, installer));
    }

    /** The hash as its column defines it, with loops of its own. */
    private String expectedHash(long seed) throws IOException {
        ExpertRowLayout layout = new ExpertRowLayout(128, 64);
        ResidentEngine engine = new ResidentEngine(new SyntheticExperts(seed, 3, 16, layout, type).hostSource(), 4);
        Random random = new Random(seed);
        ByteBuffer all = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        Definition definition = Definitions.read(folder, DEFINITION);
        Cell ofSeed = definition.cells().stream()
                .filter(cell -> cell.seed().equals(OptionalLong.of(seed)))
                .findFirst()
                .orElseThrow();
        try (TraceLibrary traces = traces(definition)) {
            ForwardCursor cursor = traces.open(ofSeed).cursor();
            while (cursor.next()) {
                short[] x = new short[cursor.tokens() * 128];
                for (int i = 0; i < x.length; i++) {
                    x[i] = type.fromFloat((float) random.nextGaussian());
                }
                for (int layer = 0; layer < 3; layer++) {
                    int[] ids = new int[cursor.tokens() * 4];
                    float[] weights = new float[ids.length];
                    cursor.ids(layer, ids);
                    cursor.weights(layer, weights);
                    short[] y = engine.forward(layer, x, ids, weights);
                    for (short value : y) {
                        all.putShort(value);
                    }
                    x = normalised(x, y);
                }
            }
        }
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(all.flip());
            return HexFormat.of().formatHex(digest.digest());
        } catch (java.security.NoSuchAlgorithmException absent) {
            throw new AssertionError(absent);
        }
    }

    private short[] normalised(short[] x, short[] y) {
        short[] next = new short[x.length];
        for (int token = 0; token < x.length / 128; token++) {
            double[] sums = new double[128];
            double squares = 0;
            for (int h = 0; h < 128; h++) {
                sums[h] = (double) type.toFloat(x[token * 128 + h]) + type.toFloat(y[token * 128 + h]);
                squares += sums[h] * sums[h];
            }
            for (int h = 0; h < 128; h++) {
                next[token * 128 + h] = type.fromFloat((float) (sums[h] * (1 / Math.sqrt(squares / 128))));
            }
        }
        return next;
    }

    private TraceLibrary traces(Definition definition) {
        return new TraceLibrary(definition.trace(), new RepositoryFiles(folder, Optional.empty()));
    }

    private static PoolRequest withSource(PoolRequest request, HostSource source) {
        return new PoolRequest(
                request.rows(),
                request.maxDecodeTokens(),
                request.layers(),
                request.quantisation(),
                request.consumer(),
                request.parallelism(),
                source,
                request.memory());
    }

    /** Experts 0 to 7 of layer 1 have one weight code changed. */
    private static final class Corrupted implements HostSource {
        private final HostSource good;

        Corrupted(PoolRequest request) {
            good = request.source();
        }

        @Override
        public ByteBuffer row(int layer, int expert) {
            ByteBuffer row = good.row(layer, expert);
            if (layer != 1 || expert > 7) {
                return row;
            }
            ByteBuffer changed = ByteBuffer.allocate(row.remaining()).order(ByteOrder.LITTLE_ENDIAN);
            changed.put(row).flip();
            return changed.put(100, (byte) (changed.get(100) ^ 0x55));
        }

        @Override
        public ExpertRowLayout layout() {
            return good.layout();
        }

        @Override
        public ActivationType activations() {
            return good.activations();
        }

        @Override
        public int layers() {
            return good.layers();
        }

        @Override
        public int experts() {
            return good.experts();
        }

        @Override
        public FloatBuffer alphas() {
            return good.alphas();
        }
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }
}
