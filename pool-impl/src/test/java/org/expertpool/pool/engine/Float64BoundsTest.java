package org.expertpool.pool.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The emulated arithmetic in bf16 and fp16 against float64, and float64 against plain weights. */
class Float64BoundsTest {
    /** The oracle on Marlin rows equals float64 on the checkpoint's own weights, gate, up and down scaled apart. */
    @Test
    void oracleEqualsThePlainWeights() {
        SyntheticExperts experts = new SyntheticExperts(2, 2, 2, new ExpertRowLayout(128, 64));
        SplittableRandom random = new SplittableRandom(2);
        double[] x = EngineFixtures.toDoubles(EngineFixtures.activations(128, random));
        PlainExpert plain = experts.plain(1, 1);
        double[] gate = multiply(plain.gate(), x);
        double[] up = multiply(plain.up(), x);
        double[] inner = new double[64];
        for (int i = 0; i < 64; i++) {
            inner[i] = gate[i] / (1 + Math.exp(-gate[i])) * up[i];
        }
        double[] expected = multiply(plain.down(), inner);
        double[] actual = new Float64Layer(experts.hostSource(), 1).forward(1, x, new int[] {1}, new float[] {0.5f});
        for (int h = 0; h < 128; h++) {
            assertThat(actual[h]).isCloseTo(0.5 * expected[h], within(1e-12));
        }
    }

    private static double[] multiply(Nvfp4Tensor tensor, double[] vector) {
        double[] product = new double[tensor.n()];
        for (int n = 0; n < tensor.n(); n++) {
            for (int k = 0; k < tensor.k(); k++) {
                product[n] += (double) tensor.blockScaled(n, k) * tensor.globalScale() * vector[k];
            }
        }
        return product;
    }

    /** Bounds of the design: the chain within 5e-3 over all outputs, any single lane within 1e-2; fp16 within a fifth of them. */
    @ParameterizedTest
    @CsvSource({"128, 64, BF16", "64, 128, BF16", "768, 64, BF16", "192, 704, BF16", "128, 64, FP16", "192, 704, FP16"})
    void chainAndLanesStayWithinTheBounds(int hidden, int width, ActivationType type) {
        double unit = type == ActivationType.FP16 ? 0.2 : 1;
        int experts = 6;
        HostSource source = new SyntheticExperts(3, 1, experts, new ExpertRowLayout(hidden, width), type).hostSource();
        SplittableRandom random = new SplittableRandom(hidden);
        int tokens = 12;
        int topK = 4;
        int[] ids = new int[tokens * topK];
        float[] weights = new float[ids.length];
        EngineFixtures.route(ids, weights, topK, experts, random);
        short[] x = EngineFixtures.activations(tokens * hidden, type, random);
        double[] chain = new Float64Layer(source, topK).forward(0, EngineFixtures.toDoubles(x, type), ids, weights);
        short[] outputs = new ResidentEngine(source, topK).forward(0, x, ids, weights);
        assertThat(Float64Layer.relativeError(EngineFixtures.toDoubles(outputs, type), chain))
                .isBetween(unit * 1e-4, unit * 5e-3);

        ResidentEngine single = new ResidentEngine(source, 1);
        for (int expert = 0; expert < experts; expert++) {
            short[] token = EngineFixtures.activations(hidden, type, random);
            int[] id = {expert};
            float[] one = {1f};
            double[] reference = new Float64Layer(source, 1).forward(0, EngineFixtures.toDoubles(token, type), id, one);
            double[] lane = EngineFixtures.toDoubles(single.forward(0, token, id, one), type);
            assertThat(Float64Layer.relativeError(lane, reference)).isLessThan(unit * 1e-2);
        }
    }

    /** Bug 5 through the chain: doubling the up projection's global scale alone doubles every output. */
    @Test
    void bug5UpScaleDoublesTheOutput() {
        SplittableRandom random = new SplittableRandom(5);
        Nvfp4Tensor gate = EngineFixtures.exactTensor(64, 64, 0x1p-6f, random);
        Nvfp4Tensor up = EngineFixtures.exactTensor(64, 64, 0x1p-6f, random);
        Nvfp4Tensor down = EngineFixtures.exactTensor(64, 64, 0x1p-6f, random);
        Nvfp4Tensor doubled = new Nvfp4Tensor(64, 64, up.codes(), up.scales(), 0x1p-5f);
        PlainExpert[] experts = {new PlainExpert(gate, up, down), new PlainExpert(gate, doubled, down)};
        HostSource source = EngineFixtures.pack(ExpertPacker.DEFAULT, 1, 2, key -> experts[key]);
        ResidentEngine engine = new ResidentEngine(source, 1);
        short[] x = EngineFixtures.activations(64, random);
        double[] once = EngineFixtures.toDoubles(engine.forward(0, x, new int[] {0}, new float[] {1}));
        double[] twice = EngineFixtures.toDoubles(engine.forward(0, x, new int[] {1}, new float[] {1}));
        for (int h = 0; h < 64; h++) {
            assertThat(twice[h]).isEqualTo(2 * once[h]);
        }
        assertThat(Float64Layer.relativeError(once, twice)).isEqualTo(0.5);
    }
}
