package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.marlin.ActivationType;

/**
 * One expert's gated feed-forward block over its row: GEMM 1, SwiGLU, GEMM 2 times router weight. Rounding points,
 * to the activations' type:
 *
 * <pre>
 * xg = round(accGate * alphaGate)    xu = round(accUp * alphaUp)
 * h  = round(round(silu(xg)) * xu)
 * lane = round(acc2 * (alphaDown * w))
 * </pre>
 */
final class ExpertChain {
    private final ActivationType type;
    private final int hidden;
    private final int width;
    private final Alphas alphas;
    private final ExpandedMatrix gateUp;
    private final ExpandedMatrix down;

    /** What the accumulators of an expert's three projections are multiplied by. */
    record Alphas(float gate, float up, float down) {}

    ExpertChain(ByteBuffer row, ExpertRowLayout layout, ActivationType type, Alphas alphas) {
        this.type = type;
        hidden = layout.hidden();
        width = layout.expertWidth();
        this.alphas = alphas;
        gateUp = new ExpandedMatrix(row, layout.w13Offset(), layout.s13Offset(), 2 * width, hidden, type);
        down = new ExpandedMatrix(row, layout.w2Offset(), layout.s2Offset(), hidden, width, type);
    }

    /**
     * Runs one lane.
     *
     * @param activations values of the type, {@code [hidden]}
     * @param weight router weight
     * @param out receives {@code [hidden]} from {@code outFrom} on
     */
    void lane(float[] activations, float weight, short[] out, int outFrom) {
        float[] inner = new float[width];
        for (int n = 0; n < width; n++) {
            float gate = type.round(gateUp.accumulate(activations, n) * alphas.gate());
            float up = type.round(gateUp.accumulate(activations, width + n) * alphas.up());
            inner[n] = swiglu(gate, up, type);
        }
        float factor = alphas.down() * weight;
        for (int n = 0; n < hidden; n++) {
            out[outFrom + n] = type.fromFloat(down.accumulate(inner, n) * factor);
        }
    }

    /** The activation, with its two roundings (marlin-nvfp4 5.2). */
    static float swiglu(float gate, float up, ActivationType type) {
        return type.round(type.round(Fp32Math.silu(gate)) * up);
    }
}
