package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Objects;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;

/** A host source with one dense slab of memory a layer: row e begins at byte {@code e * rowBytes}. */
public final class SlabSource implements HostSource {
    /** Largest slab: bindings break at 2^31 bytes, and so do Java buffers. */
    public static final long MAX_SLAB_BYTES = Integer.MAX_VALUE;

    private final ExpertRowLayout layout;
    private final ActivationType activations;
    private final int experts;
    private final List<ByteBuffer> slabs;
    private final FloatBuffer alphas;

    /**
     * Takes filled slabs.
     *
     * @param activations what the rows are made for
     * @param slabs one a layer, each of {@code experts * rowBytes} bytes from position to limit; kept, not copied
     * @param alphas f32 {@code [layers * experts, 3]}; kept, not copied
     */
    public SlabSource(
            ExpertRowLayout layout,
            ActivationType activations,
            int experts,
            List<ByteBuffer> slabs,
            FloatBuffer alphas) {
        int slabBytes = slabBytes(layout, experts);
        for (ByteBuffer slab : slabs) {
            requireSize("slab bytes", slab.remaining(), slabBytes);
        }
        requireSize("alpha values", alphas.remaining(), (long) slabs.size() * experts * PROJECTIONS);
        this.layout = layout;
        this.activations = activations;
        this.experts = experts;
        this.slabs = slabs.stream().map(slab -> slab.slice().asReadOnlyBuffer()).toList();
        this.alphas = alphas.slice().asReadOnlyBuffer();
    }

    /**
     * Bytes of one layer's slab.
     *
     * @throws BadInputException a slab would reach 2 GiB
     */
    public static int slabBytes(ExpertRowLayout layout, int experts) {
        long bytes = Math.multiplyExact(experts, layout.rowBytes());
        if (bytes > MAX_SLAB_BYTES) {
            throw new BadInputException("host source: a layer of " + experts + " rows of " + layout.rowBytes()
                    + " bytes takes " + bytes + " bytes, expected at most " + MAX_SLAB_BYTES);
        }
        return (int) bytes;
    }

    @Override
    public ExpertRowLayout layout() {
        return layout;
    }

    @Override
    public ActivationType activations() {
        return activations;
    }

    @Override
    public int layers() {
        return slabs.size();
    }

    @Override
    public int experts() {
        return experts;
    }

    @Override
    public ByteBuffer row(int layer, int expert) {
        Objects.checkIndex(expert, experts);
        int rowBytes = (int) layout.rowBytes();
        return slabs.get(layer).slice(expert * rowBytes, rowBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public FloatBuffer alphas() {
        return alphas.duplicate();
    }

    private static void requireSize(String what, long size, long expected) {
        if (size != expected) {
            throw new BadInputException("host source: " + what + " is " + size + ", expected " + expected);
        }
    }
}
