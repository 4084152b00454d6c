package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.format.Bf16;

/**
 * One expert's gated feed-forward block over its row: GEMM 1, SwiGLU, GEMM 2 times router weight. Rounding points:
 *
 * <pre>
 * xg = bf16(accGate * alphaGate)    xu = bf16(accUp * alphaUp)
 * h  = bf16(bf16(silu(xg)) * xu)
 * lane = bf16(acc2 * (alphaDown * w))
 * </pre>
 */
final class ExpertChain {
    private final int hidden;
    private final int width;
    private final Alphas alphas;
    private final ExpandedMatrix gateUp;
    private final ExpandedMatrix down;

    /** What the accumulators of an expert's three projections are multiplied by. */
    record Alphas(float gate, float up, float down) {}

    ExpertChain(ByteBuffer row, ExpertRowLayout layout, Alphas alphas) {
        hidden = layout.hidden();
        width = layout.expertWidth();
        this.alphas = alphas;
        gateUp = new ExpandedMatrix(row, layout.w13Offset(), layout.s13Offset(), 2 * width, hidden);
        down = new ExpandedMatrix(row, layout.w2Offset(), layout.s2Offset(), hidden, width);
    }

    /**
     * Runs one lane.
     *
     * @param activations bf16 values, {@code [hidden]}
     * @param weight router weight
     * @param out receives bf16 {@code [hidden]} from {@code outFrom} on
     */
    void lane(float[] activations, float weight, short[] out, int outFrom) {
        float[] inner = new float[width];
        for (int n = 0; n < width; n++) {
            float gate = Bf16.round(gateUp.accumulate(activations, n) * alphas.gate());
            float up = Bf16.round(gateUp.accumulate(activations, width + n) * alphas.up());
            inner[n] = swiglu(gate, up);
        }
        float factor = alphas.down() * weight;
        for (int n = 0; n < hidden; n++) {
            out[outFrom + n] = Bf16.fromFloat(down.accumulate(inner, n) * factor);
        }
    }

    /** The activation, with its two roundings (marlin-nvfp4 5.2). */
    static float swiglu(float gate, float up) {
        return Bf16.round(Bf16.round(Fp32Math.silu(gate)) * up);
    }
}
