package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.bank.SlabSource;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;

/** Inputs of engine tests. */
final class EngineFixtures {
    private EngineFixtures() {}

    /** Packs experts, given by key, into a host source. */
    static HostSource pack(ExpertPacker packer, int layers, int experts, IntFunction<PlainExpert> byKey) {
        ExpertRowLayout layout = byKey.apply(0).layout();
        List<ByteBuffer> slabs = new ArrayList<>();
        FloatBuffer alphas = FloatBuffer.allocate(layers * experts * HostSource.PROJECTIONS);
        for (int layer = 0; layer < layers; layer++) {
            ByteBuffer slab = ByteBuffer.allocate(SlabSource.slabBytes(layout, experts));
            for (int expert = 0; expert < experts; expert++) {
                ExpertPacker.Packed packed = packer.pack(byKey.apply(layer * experts + expert), slab);
                alphas.put(packed.gate()).put(packed.up()).put(packed.down());
            }
            slabs.add(slab.flip());
        }
        return new SlabSource(layout, packer.type(), experts, slabs, alphas.flip());
    }

    /** A tensor whose scales are 0.5, 1, 2 or 4: with small whole activations all sums are exact (marlin-nvfp4 2.8). */
    static Nvfp4Tensor exactTensor(int n, int k, float globalScale, SplittableRandom random) {
        byte[] codes = new byte[n * k / 2];
        random.nextBytes(codes);
        byte[] scales = new byte[n * k / 16];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (byte) (0x30 + 8 * random.nextInt(4));
        }
        return new Nvfp4Tensor(n, k, codes, scales, globalScale);
    }

    /** Activations of unit variance in bf16. */
    static short[] activations(int length, SplittableRandom random) {
        return activations(length, ActivationType.BF16, random);
    }

    /** Activations of unit variance. */
    static short[] activations(int length, ActivationType type, SplittableRandom random) {
        short[] activations = new short[length];
        for (int i = 0; i < length; i++) {
            activations[i] = type.fromFloat((float) random.nextGaussian());
        }
        return activations;
    }

    /** Distinct experts for each token, and weights that sum to 1 over them. */
    static void route(int[] ids, float[] weights, int topK, int experts, SplittableRandom random) {
        for (int token = 0; token < ids.length / topK; token++) {
            int[] order = new int[experts];
            float total = 0;
            for (int i = 0; i < topK; i++) {
                weights[token * topK + i] = 0.1f + (float) random.nextDouble();
                total += weights[token * topK + i];
            }
            for (int i = 0; i < experts; i++) {
                int j = random.nextInt(i + 1);
                order[i] = order[j];
                order[j] = i;
            }
            for (int i = 0; i < topK; i++) {
                ids[token * topK + i] = order[i];
                weights[token * topK + i] /= total;
            }
        }
    }

    static double[] toDoubles(short[] bf16) {
        return toDoubles(bf16, ActivationType.BF16);
    }

    static double[] toDoubles(short[] bits, ActivationType type) {
        double[] values = new double[bits.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = type.toFloat(bits[i]);
        }
        return values;
    }
}
