package org.expertpool.pool.checkpoint;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleLoss;

/** Turns a layer's experts from checkpoint form into Marlin rows. All conversions give the same bytes. */
public interface LayerConversion {
    /** What the rows are made for. */
    ActivationType activations();

    /**
     * @param layer counted over those with experts
     * @param slab takes the dense rows {@code [experts, rowBytes]} from its position to its limit
     * @param alphas takes f32 {@code [experts, 3]} likewise
     * @return what the scale factor rule lost
     */
    ScaleLoss convert(Checkpoint checkpoint, int layer, ByteBuffer slab, FloatBuffer alphas);
}
