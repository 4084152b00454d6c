package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.testdata.TinyMoe;
import org.junit.jupiter.api.Test;

/** A trained model's experts through packer, pool and engine, against the MoE outputs of an independent program. */
class TrainedModelTest {
    private static HostSource source(TinyMoe model) {
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
    void reproducesTheGoldenOutputs() throws IOException {
        TinyMoe model = TinyMoe.openOrSkip();
        List<TinyMoe.Call> golden = model.golden();
        assertThat(golden).hasSize(6 * 3 * TinyMoe.LAYERS);
        HostSource source = source(model);
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
            assertThat(EngineFixtures.relativeError(exact, expected)).isLessThan(2e-6);

            short[] rounded = round(call.input);
            short[] outputs = resident.forward(call.layer, rounded, call.ids, call.weights);
            double[] onRounded = oracle.forward(call.layer, EngineFixtures.toDoubles(rounded), call.ids, call.weights);
            double[] actual = EngineFixtures.toDoubles(outputs);
            byLayer.get(call.layer).add(actual, onRounded);
            assertThat(EngineFixtures.relativeError(actual, expected))
                    .as("one token, the input's own rounding included")
                    .isLessThan(1e-2);
            assertThat(pooled.forward(call.layer, rounded, call.ids, call.weights))
                    .isEqualTo(outputs);
        }
        for (Errors errors : byLayer) {
            assertThat(errors.relative()).as("over all tokens of a layer").isBetween(1e-4, 5e-3);
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

    private static short[] round(float[] values) {
        short[] rounded = new short[values.length];
        for (int i = 0; i < rounded.length; i++) {
            rounded[i] = Bf16.fromFloat(values[i]);
        }
        return rounded;
    }
}
