package org.expertpool.pool.checkpoint;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
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
     * Loads some layers; the source counts them from 0.
     *
     * @param layers counted over those with experts
     * @param slabs asked for one slab at a time, before that layer is read
     * @param loaded told after each layer how many are there
     */
    public LoadedExperts load(List<Integer> layers, SlabAllocator slabs, IntConsumer loaded) {
        int experts = checkpoint.geometry().experts();
        ExpertRowLayout layout = checkpoint.geometry().rowLayout();
        int slabBytes = SlabSource.slabBytes(layout, experts);
        int layerAlphas = experts * HostSource.PROJECTIONS;
        List<ByteBuffer> filled = new ArrayList<>();
        FloatBuffer alphas = FloatBuffer.allocate(Math.multiplyExact(layers.size(), layerAlphas));
        ScaleLoss loss = ScaleLoss.NONE;
        for (int layer : layers) {
            ByteBuffer slab = slabs.slab(filled.size(), slabBytes);
            FloatBuffer layersAlphas = alphas.slice(filled.size() * layerAlphas, layerAlphas);
            loss = loss.plus(conversion.convert(checkpoint, layer, slab, layersAlphas));
            filled.add(slab);
            loaded.accept(filled.size());
        }
        return new LoadedExperts(new SlabSource(layout, conversion.activations(), experts, filled, alphas), loss);
    }

    /** Loads all layers into new memory outside the Java heap. */
    public LoadedExperts load() {
        List<Integer> all =
                IntStream.range(0, checkpoint.geometry().layers()).boxed().toList();
        return load(all, SlabAllocator.DIRECT, layers -> {});
    }
}
