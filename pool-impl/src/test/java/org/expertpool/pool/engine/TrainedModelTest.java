package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.ExpertLoader;
import org.expertpool.pool.checkpoint.HostConversion;
import org.expertpool.pool.checkpoint.LoadedExperts;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.testdata.TinyMoe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A trained model's experts through packer, pool and engine, against the MoE outputs of an independent program. */
class TrainedModelTest {
    private static HostSource source(TinyMoe model) throws IOException {
        return source(model, ActivationType.BF16);
    }

    private static HostSource source(TinyMoe model, ActivationType type) throws IOException {
        return new ExpertLoader(Checkpoint.open(model.folder()), new HostConversion(ExpertPacker.of(type)))
                .load()
                .source();
    }

    /** The same from the test's own reader of the files. */
    private static HostSource sourceReadApart(TinyMoe model) {
        return EngineFixtures.pack(
                ExpertPacker.DEFAULT,
                TinyMoe.LAYERS,
                TinyMoe.EXPERTS,
                key -> expert(model, key / TinyMoe.EXPERTS, key % TinyMoe.EXPERTS));
    }

    private static PlainExpert expert(TinyMoe model, int layer, int expert) {
        try {
            return model.expert(layer, expert);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void loadsTheBytesThatAnotherReaderFinds() throws IOException {
        TinyMoe model = TinyMoe.openOrSkip();
        Checkpoint checkpoint = Checkpoint.open(model.folder());
        assertThat(checkpoint.tensors()).hasSize(9291);
        assertThat(checkpoint.geometry())
                .isEqualTo(new ModelGeometry("tiny-moe", 8, 128, 8, 256, 64, 4096, 460_032, 8 * 460_032 + 262_656));
        LoadedExperts loaded = new ExpertLoader(checkpoint, new HostConversion(ExpertPacker.DEFAULT)).load();
        assertThat(loaded.loss().blocks()).isEqualTo(8L * 128 * 3 * 256 * 64 / 16);
        assertThat(loaded.loss().squaredError()).isZero();
        HostSource apart = sourceReadApart(model);
        for (int key = 0; key < TinyMoe.LAYERS * TinyMoe.EXPERTS; key++) {
            assertThat(loaded.source().row(key / TinyMoe.EXPERTS, key % TinyMoe.EXPERTS))
                    .isEqualTo(apart.row(key / TinyMoe.EXPERTS, key % TinyMoe.EXPERTS));
        }
        assertThat(loaded.source().alphas()).isEqualTo(apart.alphas());
    }

    /** The tokens of a layer in one call, planned or cut between bank and host source: the bits of one token at a time. */
    @Test
    void everyPlacementAndWidthGivesTheSameBits() throws IOException {
        TinyMoe model = TinyMoe.openOrSkip();
        HostSource source = source(model);
        ResidentEngine resident = new ResidentEngine(source, TinyMoe.TOP_K);
        int[][] shapes = {{8, 1}, {20, 8}, {64, 4}, {127, 1}}; // N, decode tokens
        for (int[] shape : shapes) {
            ExpertPool pool = ExpertPool.installPoisoned(PoolRequest.onHost(
                    new PoolConfig(TinyMoe.LAYERS, TinyMoe.EXPERTS, TinyMoe.TOP_K, shape[0], shape[1]), source));
            pool.openGate();
            PoolEngine pooled = new PoolEngine(pool);
            for (int layer = 0; layer < TinyMoe.LAYERS; layer++) {
                int number = layer;
                List<TinyMoe.Call> calls = model.golden().stream()
                        .filter(call -> call.layer == number)
                        .toList();
                for (int tokens : new int[] {1, 4, 8, 18}) {
                    short[] together = forward(pooled, calls.subList(0, tokens));
                    for (int token = 0; token < tokens; token++) {
                        short[] alone = forward(resident, calls.subList(token, token + 1));
                        assertThat(Arrays.copyOfRange(together, token * TinyMoe.HIDDEN, (token + 1) * TinyMoe.HIDDEN))
                                .isEqualTo(alone);
                    }
                }
            }
            pool.synchronise();
            pool.check(RowCheck.ALL);
        }
    }

    private static short[] forward(MoeEngine engine, List<TinyMoe.Call> calls) {
        short[] activations = new short[calls.size() * TinyMoe.HIDDEN];
        int[] ids = new int[calls.size() * TinyMoe.TOP_K];
        float[] weights = new float[ids.length];
        for (int token = 0; token < calls.size(); token++) {
            TinyMoe.Call call = calls.get(token);
            System.arraycopy(
                    round(call.input, ActivationType.BF16), 0, activations, token * TinyMoe.HIDDEN, TinyMoe.HIDDEN);
            System.arraycopy(call.ids, 0, ids, token * TinyMoe.TOP_K, TinyMoe.TOP_K);
            System.arraycopy(call.weights, 0, weights, token * TinyMoe.TOP_K, TinyMoe.TOP_K);
        }
        return engine.forward(calls.get(0).layer, activations, ids, weights);
    }

    @ParameterizedTest
    @EnumSource
    void reproducesTheGoldenOutputs(ActivationType type) throws IOException {
        double unit = type == ActivationType.FP16 ? 0.2 : 1;
        TinyMoe model = TinyMoe.openOrSkip();
        List<TinyMoe.Call> golden = model.golden();
        assertThat(golden).hasSize(6 * 3 * TinyMoe.LAYERS);
        HostSource source = source(model, type);
        Float64Layer oracle = new Float64Layer(source, TinyMoe.TOP_K);
        ResidentEngine resident = new ResidentEngine(source, TinyMoe.TOP_K);
        ExpertPool pool = ExpertPool.installPoisoned(
                PoolRequest.onHost(new PoolConfig(TinyMoe.LAYERS, TinyMoe.EXPERTS, TinyMoe.TOP_K, 24, 1), source));
        pool.openGate();
        PoolEngine pooled = new PoolEngine(pool);
        List<Errors> byLayer =
                Stream.generate(Errors::new).limit(TinyMoe.LAYERS).toList();
        for (TinyMoe.Call call : golden) {
            double[] expected = widen(call.output);
            double[] exact = oracle.forward(call.layer, widen(call.input), call.ids, call.weights);
            assertThat(Float64Layer.relativeError(exact, expected)).isLessThan(2e-6);

            short[] rounded = round(call.input, type);
            short[] outputs = resident.forward(call.layer, rounded, call.ids, call.weights);
            double[] onRounded =
                    oracle.forward(call.layer, EngineFixtures.toDoubles(rounded, type), call.ids, call.weights);
            double[] actual = EngineFixtures.toDoubles(outputs, type);
            byLayer.get(call.layer).add(actual, onRounded);
            assertThat(Float64Layer.relativeError(actual, expected))
                    .as("one token, the input's own rounding included")
                    .isLessThan(unit * 1e-2);
            assertThat(pooled.forward(call.layer, rounded, call.ids, call.weights))
                    .isEqualTo(outputs);
        }
        for (Errors errors : byLayer) {
            assertThat(errors.relative()).as("over all tokens of a layer").isBetween(unit * 1e-4, unit * 5e-3);
        }
        pool.synchronise();
    }

    /** A relative error over several outputs. */
    private static final class Errors {
        private double squaredError;
        private double squaredNorm;

        void add(double[] actual, double[] reference) {
            for (int i = 0; i < reference.length; i++) {
                squaredError += (actual[i] - reference[i]) * (actual[i] - reference[i]);
                squaredNorm += reference[i] * reference[i];
            }
        }

        double relative() {
            return Math.sqrt(squaredError / squaredNorm);
        }
    }

    private static double[] widen(float[] values) {
        double[] wide = new double[values.length];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = values[i];
        }
        return wide;
    }

    private static short[] round(float[] values, ActivationType type) {
        short[] rounded = new short[values.length];
        for (int i = 0; i < rounded.length; i++) {
            rounded[i] = type.fromFloat(values[i]);
        }
        return rounded;
    }
}
