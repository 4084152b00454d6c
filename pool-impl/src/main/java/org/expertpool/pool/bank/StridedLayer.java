package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.marlin.ActivationType;

/**
 * One layer's expert rows as four tensors, the way a loader leaves them. The pool reads dense rows, so that a row copy is
 * one run of bytes: {@link #densify} makes them.
 *
 * @param w13 gate and up weights
 * @param s13 their block scales
 * @param w2 down weights
 * @param s2 their block scales
 */
public record StridedLayer(StridedPart w13, StridedPart s13, StridedPart w2, StridedPart s2) {
    /**
     * A host source with copies of all rows in new memory outside the Java heap; every value stays as it is.
     *
     * @param activations what the rows are made for
     * @param layers the layers in order
     * @param alphas f32 {@code [layers * experts, 3]}; kept, not copied
     */
    public static HostSource densify(
            ExpertRowLayout layout,
            ActivationType activations,
            int experts,
            List<StridedLayer> layers,
            FloatBuffer alphas) {
        int slabBytes = SlabSource.slabBytes(layout, experts);
        for (int layer = 0; layer < layers.size(); layer++) {
            layers.get(layer).requireExperts("layer " + layer, layout, experts);
        }
        List<ByteBuffer> slabs = new ArrayList<>();
        for (StridedLayer layer : layers) {
            ByteBuffer slab = ByteBuffer.allocateDirect(slabBytes);
            for (int expert = 0; expert < experts; expert++) {
                slab.put(layer.w13.of(expert, (int) layout.w13Bytes()));
                slab.put(layer.s13.of(expert, (int) layout.s13Bytes()));
                slab.put(layer.w2.of(expert, (int) layout.w2Bytes()));
                slab.put(layer.s2.of(expert, (int) layout.s2Bytes()));
            }
            slabs.add(slab.flip());
        }
        return new SlabSource(layout, activations, experts, slabs, alphas);
    }

    private void requireExperts(String layer, ExpertRowLayout layout, int experts) {
        w13.requireExperts(layer + " w13", experts, layout.w13Bytes());
        s13.requireExperts(layer + " s13", experts, layout.s13Bytes());
        w2.requireExperts(layer + " w2", experts, layout.w2Bytes());
        s2.requireExperts(layer + " s2", experts, layout.s2Bytes());
    }
}
