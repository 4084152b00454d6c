package org.expertpool.pool.checkpoint;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.bank.SlabSource;
import org.expertpool.pool.marlin.ScaleLoss;

/** Fills a host source from a checkpoint, one layer after the other. */
public final class ExpertLoader {
    private final Checkpoint checkpoint;
    private final LayerConversion conversion;

    public ExpertLoader(Checkpoint checkpoint, LayerConversion conversion) {
        this.checkpoint = checkpoint;
        this.conversion = conversion;
    }

    /**
     * Loads layers {@code from} to {@code to - 1}; the source counts them from 0.
     *
     * @param slabs asked for one slab at a time, before that layer is read
     * @param loaded told after each layer how many are there
     */
    public LoadedExperts load(int from, int to, SlabAllocator slabs, IntConsumer loaded) {
        int experts = checkpoint.geometry().experts();
        ExpertRowLayout layout = checkpoint.geometry().rowLayout();
        int slabBytes = SlabSource.slabBytes(layout, experts);
        List<ByteBuffer> filled = new ArrayList<>();
        int layerAlphas = experts * HostSource.PROJECTIONS;
        FloatBuffer alphas = FloatBuffer.allocate(Math.multiplyExact(to - from, layerAlphas));
        ScaleLoss loss = ScaleLoss.NONE;
        for (int layer = from; layer < to; layer++) {
            ByteBuffer slab = slabs.slab(layer - from, slabBytes);
            loss = loss.plus(conversion.convert(
                    checkpoint, layer, slab, alphas.slice((layer - from) * layerAlphas, layerAlphas)));
            filled.add(slab);
            loaded.accept(filled.size());
        }
        return new LoadedExperts(new SlabSource(layout, experts, filled, alphas), loss);
    }

    /** Loads all layers into new memory outside the Java heap. */
    public LoadedExperts load() {
        return load(0, checkpoint.geometry().layers(), SlabAllocator.DIRECT, layers -> {});
    }
}
