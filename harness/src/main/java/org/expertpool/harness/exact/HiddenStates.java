package org.expertpool.harness.exact;

import java.util.Random;
import org.expertpool.pool.marlin.ActivationType;

/**
 * What stands in for the rest of the model between MoE layers: seeded inputs of the first layer, and a residual with
 * RMS norm after each, so that the input of layer l+1 depends on every output of layer l and keeps unit size.
 */
final class HiddenStates {
    private final ActivationType type;
    private final int hidden;
    private final Random random; // its Gaussians are specified to the bit on every JDK

    HiddenStates(ActivationType type, int hidden, long seed) {
        this.type = type;
        this.hidden = hidden;
        random = new Random(seed);
    }

    /** The input of layer 0 of the next forward: {@code [tokens, hidden]}, standard normal. */
    short[] first(int tokens) {
        short[] states = new short[Math.multiplyExact(tokens, hidden)];
        for (int i = 0; i < states.length; i++) {
            states[i] = type.fromFloat((float) random.nextGaussian());
        }
        return states;
    }

    /** The input of the next layer: {@code round(rms-norm(inputs + outputs))} by token. */
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
                states[i] = type.fromFloat((float) (residual(inputs[i], outputs[i]) * scale));
            }
        }
        return states;
    }

    private double residual(short input, short output) {
        return (double) type.toFloat(input) + type.toFloat(output);
    }
}
