package org.expertpool.pool.format;

import org.expertpool.pool.BadInputException;

/**
 * Quantises fp32 weights to NVFP4 by the usual recipe (marlin-nvfp4 1.3), in fp32:
 *
 * <pre>
 * globalScale = amax / 2688                         over the tensor; 2688 = 6 * 448
 * scale[b]    = E4M3(amax[b] / 6 / globalScale)     over a block of 16 along K
 * code        = E2M1(w / (scale * globalScale))
 * </pre>
 *
 * <ul>
 *   <li>NaN and infinite weights are bad input.
 *   <li>A block of zeros has scale 0 and codes 0, or 8 for minus zero. A tensor of zeros has global scale 1.
 *   <li>A block that is not all zeros has a scale of at least 2^-9 (so tiny blocks may round to zeros, never to NaN) and
 *       at most 448; what then lies beyond 6 saturates.
 *   <li>The global scale is at least 2^-126, so that dividing by it stays finite.
 * </ul>
 */
public final class Nvfp4Quantiser {
    private static final float RANGE = E2M1.MAX * E4M3.MAX;

    private Nvfp4Quantiser() {}

    /** Quantises {@code weights [n, k]} with the global scale of their own largest magnitude. */
    public static Nvfp4Tensor quantise(float[] weights, int n, int k) {
        return quantise(weights, n, k, globalScale(weights));
    }

    /** Quantises {@code weights [n, k]} with a given global scale, such as one that two projections share. */
    public static Nvfp4Tensor quantise(float[] weights, int n, int k, float globalScale) {
        if (weights.length != (long) n * k) {
            throw new BadInputException(
                    "NVFP4 quantise: weights has " + weights.length + " values, expected n * k = " + (long) n * k);
        }
        if (!(globalScale >= Float.MIN_NORMAL)) {
            throw new BadInputException("NVFP4 quantise: globalScale is " + globalScale + ", expected at least 2^-126");
        }
        Nvfp4Tensor tensor =
                new Nvfp4Tensor(n, k, new byte[n * k / 2], new byte[n * k / Nvfp4Tensor.BLOCK], globalScale);
        for (int from = 0; from < weights.length; from += Nvfp4Tensor.BLOCK) {
            quantiseBlock(weights, from, tensor);
        }
        return tensor;
    }

    /** The global scale of the recipe. */
    public static float globalScale(float[] weights) {
        float amax = amax(weights, 0, weights.length);
        return amax == 0 ? 1f : Math.max(amax / RANGE, Float.MIN_NORMAL);
    }

    private static void quantiseBlock(float[] weights, int from, Nvfp4Tensor into) {
        float amax = amax(weights, from, from + Nvfp4Tensor.BLOCK);
        byte scale = amax == 0 ? 0 : blockScale(amax, into.globalScale());
        into.scales()[from / Nvfp4Tensor.BLOCK] = scale;
        float unit = amax == 0 ? 1f : E4M3.decode(scale) * into.globalScale();
        for (int i = from; i < from + Nvfp4Tensor.BLOCK; i += 2) {
            int low = E2M1.encode(weights[i] / unit);
            int high = E2M1.encode(weights[i + 1] / unit);
            into.codes()[i / 2] = (byte) ((high << 4) | low);
        }
    }

    private static byte blockScale(float amax, float globalScale) {
        return E4M3.encode(Math.max(amax / E2M1.MAX / globalScale, E4M3.MIN_POSITIVE));
    }

    private static float amax(float[] weights, int from, int to) {
        float amax = 0;
        for (int i = from; i < to; i++) {
            if (!Float.isFinite(weights[i])) {
                throw new BadInputException("NVFP4 quantise: weight " + i + " is " + weights[i] + ", expected finite");
            }
            amax = Math.max(amax, Math.abs(weights[i]));
        }
        return amax;
    }
}
