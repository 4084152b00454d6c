package org.expertpool.harness.verify;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.expertpool.harness.verify.CheckpointVerification.Finding;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.engine.Float64Layer;
import org.expertpool.pool.engine.MoeEngine;

/**
 * What is held against engines that run the same layers: bounds on their error, and each other's bits.
 *
 * @param topK experts of a token
 * @param seeded calls by layer, of {@link #TOKENS} tokens each
 * @param golden calls by layer whose outputs another program computed; none where there are none
 * @param found told of each finding as it is there
 */
record EngineChecks(int topK, List<MoeCalls> seeded, List<MoeCalls> golden, Consumer<Finding> found) {
    static final int TOKENS = 8;
    static final String EQUAL = "equal";

    /** Bounds on the relative error of a layer's outputs and of single lanes. */
    static final double CHAIN_BOUND = 5e-3;

    static final double LANE_BOUND = 1e-2;

    /** Golden inputs are fp32: rounding them to 16 bits is no error of the chain, but moves its outputs. */
    static final double GOLDEN_BOUND = 1e-2;

    /** Golden outputs were summed in fp32. */
    static final double FLOAT32_BOUND = 1e-5;

    private static final int NO_EXPERT = -1;

    /** Calls of so many tokens of each layer by two engines; what is found equal is said by {@code equal}. */
    void sameBits(String name, MoeEngine subject, MoeEngine reference, int tokens, Supplier<String> equal) {
        long start = System.nanoTime();
        long calls = 0;
        for (int layer = 0; layer < seeded.size(); layer++) {
            for (int token = 0; token < TOKENS; token += tokens) {
                MoeCalls call = seeded.get(layer).slice(token, token + tokens);
                int at = Arrays.mismatch(forward(subject, layer, call), forward(reference, layer, call));
                calls++;
                if (at >= 0) {
                    String where = "differs: layer " + layer + ", token " + token + ", output value " + at;
                    found.accept(new Finding(name, calls, seconds(start), where, false));
                    return;
                }
            }
        }
        found.accept(new Finding(name, calls, seconds(start), equal.get(), true));
    }

    /** Holds an engine's outputs to float64 on the same rounded inputs, and to the outputs that came along. */
    void arithmetic(String engine, HostSource source, MoeEngine subject) {
        Float64Layer oracle = new Float64Layer(source, topK);
        bounded(engine + ", chain against float64", CHAIN_BOUND, layer -> {
            MoeCalls calls = seeded.get(layer);
            return error(subject, layer, calls, exact(oracle, layer, calls));
        });
        bounded(engine + ", single lanes against float64", LANE_BOUND, layer -> {
            double worst = 0;
            for (int token = 0; token < TOKENS; token++) {
                MoeCalls call = seeded.get(layer).slice(token, token + 1);
                Arrays.fill(call.ids(), 1, call.ids().length, NO_EXPERT);
                worst = Math.max(worst, error(subject, layer, call, exact(oracle, layer, call)));
            }
            return worst;
        });
        if (!golden.isEmpty()) {
            bounded("float64 against golden outputs", FLOAT32_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                double[] inputs = new double[calls.inputs().length];
                Arrays.setAll(inputs, i -> calls.inputs()[i]);
                double[] exact = oracle.forward(layer, inputs, calls.ids(), calls.weights());
                return Float64Layer.relativeError(exact, calls.expected());
            });
            bounded(engine + ", golden inputs rounded, against float64", CHAIN_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                return error(subject, layer, calls, exact(oracle, layer, calls));
            });
            bounded(engine + ", golden outputs, inputs' rounding included", GOLDEN_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                return error(subject, layer, calls, calls.expected());
            });
        }
    }

    private interface LayerError {
        double of(int layer);
    }

    private void bounded(String name, double bound, LayerError error) {
        long start = System.nanoTime();
        double worst = 0;
        for (int layer = 0; layer < seeded.size(); layer++) {
            double here = error.of(layer);
            worst = here <= worst ? worst : here; // NaN stays
        }
        String result = String.format(Locale.ROOT, "%.1e of at most %.0e", worst, bound);
        found.accept(new Finding(name, seeded.size(), seconds(start), result, worst <= bound));
    }

    private static double error(MoeEngine subject, int layer, MoeCalls calls, double[] expected) {
        short[] outputs = subject.forward(layer, calls.activations(), calls.ids(), calls.weights());
        return Float64Layer.relativeError(calls.widen(outputs), expected);
    }

    private static double[] exact(Float64Layer oracle, int layer, MoeCalls calls) {
        return oracle.forward(layer, calls.roundedInputs(), calls.ids(), calls.weights());
    }

    private static short[] forward(MoeEngine engine, int layer, MoeCalls calls) {
        return engine.forward(layer, calls.activations(), calls.ids(), calls.weights());
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) * 1e-9;
    }
}
