package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.format.E2M1;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ScaleCodes;
import org.expertpool.pool.marlin.ScaleOrder;
import org.expertpool.pool.marlin.WeightRepack;

/**
 * The oracle: one MoE layer in float64 without any rounding point, on weights as the scale factor rule left them. Takes
 * rows apart by the inverse repack, not by the engine's expansion.
 */
public final class Float64Layer {
    private final HostSource source;
    private final int topK;

    public Float64Layer(HostSource source, int topK) {
        this.source = source;
        this.topK = topK;
    }

    /**
     * One layer call.
     *
     * @param activations {@code [tokens, hidden]}
     * @param ids expert ids {@code [tokens, topK]}; those outside {@code [0, experts)} contribute nothing
     * @param weights router weights {@code [tokens, topK]}
     * @return {@code [tokens, hidden]}
     */
    public double[] forward(int layer, double[] activations, int[] ids, float[] weights) {
        int hidden = source.layout().hidden();
        double[] outputs = new double[activations.length];
        for (int lane = 0; lane < ids.length; lane++) {
            if (ids[lane] >= 0 && ids[lane] < source.experts()) {
                int from = lane / topK * hidden;
                double[] output = lane(layer, ids[lane], activations, from);
                for (int h = 0; h < hidden; h++) {
                    outputs[from + h] += weights[lane] * output[h];
                }
            }
        }
        return outputs;
    }

    /** Error in the 2-norm, relative to the reference; infinite where the two differ from a reference of zeros. */
    public static double relativeError(double[] actual, double[] reference) {
        double error = 0;
        double norm = 0;
        for (int i = 0; i < reference.length; i++) {
            error += (actual[i] - reference[i]) * (actual[i] - reference[i]);
            norm += reference[i] * reference[i];
        }
        return error == 0 ? 0 : Math.sqrt(error / norm);
    }

    private double[] lane(int layer, int expert, double[] activations, int from) {
        ExpertRowLayout layout = source.layout();
        ByteBuffer row = source.row(layer, expert);
        int width = layout.expertWidth();
        int hidden = layout.hidden();
        double[] token = Arrays.copyOfRange(activations, from, from + hidden);
        double[] gateUp = multiply(matrix(row, layout.w13Offset(), layout.s13Offset(), 2 * width, hidden), token);
        double[] inner = new double[width];
        for (int n = 0; n < width; n++) {
            double gate = gateUp[n] * alpha(layer, expert, 0);
            double up = gateUp[width + n] * alpha(layer, expert, 1);
            inner[n] = gate / (1 + Math.exp(-gate)) * up;
        }
        double[] output = multiply(matrix(row, layout.w2Offset(), layout.s2Offset(), hidden, width), inner);
        for (int n = 0; n < hidden; n++) {
            output[n] *= alpha(layer, expert, 2);
        }
        return output;
    }

    /** A matrix of a row with codes in checkpoint order; its scales stay Marlin codes, and alpha is still to come. */
    private static Nvfp4Tensor matrix(ByteBuffer row, long wordsAt, long scalesAt, int n, int k) {
        int[] words = new int[n * k / 8];
        Arrays.setAll(words, word -> row.getInt((int) wordsAt + Integer.BYTES * word));
        byte[] scales = new byte[n * k / Nvfp4Tensor.BLOCK];
        row.get((int) scalesAt, scales);
        return new Nvfp4Tensor(n, k, WeightRepack.unpack(words, n, k), ScaleOrder.fromMarlin(scales, n, k), 1f);
    }

    private static double[] multiply(Nvfp4Tensor matrix, double[] vector) {
        double[] product = new double[matrix.n()];
        for (int n = 0; n < matrix.n(); n++) {
            for (int k = 0; k < matrix.k(); k++) {
                double weight = (double) E2M1.decode(matrix.code(n, k)) * ScaleCodes.decode(matrix.scale(n, k));
                product[n] += weight * vector[k];
            }
        }
        return product;
    }

    private double alpha(int layer, int expert, int projection) {
        int at = (layer * source.experts() + expert) * HostSource.PROJECTIONS + projection;
        return source.alphas().get(at) / source.activations().expansion();
    }
}
