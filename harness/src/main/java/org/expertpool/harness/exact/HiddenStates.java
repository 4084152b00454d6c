package org.expertpool.harness.exact;

import java.util.Random;
import org.expertpool.pool.format.Bf16;

/**
 * What stands in for the rest of the model between MoE layers: seeded inputs of the first layer, and a residual with
 * RMS norm after each, so that the input of layer l+1 depends on every output of layer l and keeps unit size.
 */
final class HiddenStates {
    private final int hidden;
    private final Random random; // its Gaussians are specified to the bit on every JDK

    HiddenStates(int hidden, long seed) {
        this.hidden = hidden;
        random = new Random(seed);
    }

    /** The input of layer 0 of the next forward: bf16 {@code [tokens, hidden]}, standard normal. */
    short[] first(int tokens) {
        short[] states = new short[Math.multiplyExact(tokens, hidden)];
        for (int i = 0; i < states.length; i++) {
            states[i] = Bf16.fromFloat((float) random.nextGaussian());
        }
        return states;
    }

    /** The input of the next layer: {@code bf16(rms-norm(inputs + outputs))} by token. */
    short[] next(short[] inputs, short[] outputs) {
        short[] states = new short[inputs.length];
        for (int token = 0; token < inputs.length; token += hidden) {
            double squares = 0;
            for (int i = token; i < token + hidden; i++) {
                double sum = residual(inputs[i], outputs[i]);
                squares += sum * sum;
            }
            double scale = squares == 0 ? 1 : 1 / Math.sqrt(squares / hidden);
            for (int i = token; i < token + hidden; i++) {
                states[i] = Bf16.fromFloat((float) (residual(inputs[i], outputs[i]) * scale));
            }
        }
        return states;
    }

    private static double residual(short input, short output) {
        return (double) Bf16.toFloat(input) + Bf16.toFloat(output);
    }
}
