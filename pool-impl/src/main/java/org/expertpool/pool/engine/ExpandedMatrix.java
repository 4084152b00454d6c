package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import org.expertpool.pool.format.E2M1;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleOrder;

/**
 * One weight matrix of an expert as a kernel holds it in registers: code times scale code, both expanded to the
 * activations' type (marlin-nvfp4 2.2, 2.4). Alpha makes true weights of its elements.
 */
final class ExpandedMatrix {
    private static final int MMA_K = 16;

    private final ActivationType type;
    private final int k;
    private final int chunk;
    private final float[] weights; // [n, k]

    /**
     * Expands the matrix whose Marlin words and scale codes begin at the given offsets of a little-endian row.
     *
     * @param n output length, a multiple of 64
     * @param k reduction length, a multiple of 64
     */
    ExpandedMatrix(ByteBuffer row, long weightOffset, long scaleOffset, int n, int k, ActivationType type) {
        this.type = type;
        this.k = k;
        chunk = KSplit.chunk(k);
        weights = new float[Math.multiplyExact(n, k)];
        for (int word = 0; word < n * k / 8; word++) {
            int codes = row.getInt((int) weightOffset + 4 * word);
            int inTileRow = word % (2 * n);
            int lane = inTileRow / 4 % 32;
            int column = inTileRow / 128 * 64 + inTileRow % 4 * 16 + lane / 4;
            int depth = word / (2 * n) * MMA_K + lane % 4 * 2;
            for (int half = 0; half < 2; half++) {
                int n8 = column + 8 * half;
                int scaleAt = (int) scaleOffset + depth / Nvfp4Tensor.BLOCK * n + ScaleOrder.position(n8);
                float scale = type.expandScale(row.get(scaleAt));
                int four = codes >>> (8 * half);
                put(n8, depth, four, scale);
                put(n8, depth + 8, four >>> 4, scale);
            }
        }
    }

    /**
     * The fp32 accumulator of one output: the sum over k of {@code activations[k] * weight[column, k]}. One MMA covers 16
     * k: its products, taken in ascending k, and the sum so far are added in float64 and rounded to fp32 once.
     */
    float accumulate(float[] activations, int column) {
        float sum = 0;
        for (int from = 0; from < k; from += chunk) {
            float chunkSum = chunkSum(activations, column * k, from, Math.min(from + chunk, k));
            sum = from == 0 ? chunkSum : sum + chunkSum;
        }
        return sum;
    }

    private float chunkSum(float[] activations, int base, int from, int to) {
        float sum = 0;
        for (int step = from; step < to; step += MMA_K) {
            double exact = sum;
            for (int i = step; i < step + MMA_K; i++) {
                exact += (double) activations[i] * weights[base + i];
            }
            sum = (float) exact;
        }
        return sum;
    }

    /** Stores the codes in nibbles 0 and 4: two neighbours along k. */
    private void put(int column, int depth, int codes, float scale) {
        weights[column * k + depth] = E2M1.decode(codes) * type.codeUnit() * scale;
        weights[column * k + depth + 1] = E2M1.decode(codes >>> 16) * type.codeUnit() * scale;
    }
}
