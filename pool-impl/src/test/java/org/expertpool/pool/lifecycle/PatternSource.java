package org.expertpool.pool.lifecycle;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.marlin.ActivationType;

/** Rows whose every byte names layer, expert and offset. */
class PatternSource implements HostSource {
    static final ExpertRowLayout LAYOUT = new ExpertRowLayout(64, 64);

    private final int layers;
    private final int experts;

    PatternSource(int layers, int experts) {
        this.layers = layers;
        this.experts = experts;
    }

    static byte at(int layer, int expert, int offset) {
        return (byte) (layer * 101 + expert * 37 + offset * 3 + (offset >> 8));
    }

    @Override
    public ExpertRowLayout layout() {
        return LAYOUT;
    }

    @Override
    public ActivationType activations() {
        return ActivationType.BF16;
    }

    @Override
    public int layers() {
        return layers;
    }

    @Override
    public int experts() {
        return experts;
    }

    @Override
    public ByteBuffer row(int layer, int expert) {
        ByteBuffer row = ByteBuffer.allocate((int) LAYOUT.rowBytes());
        for (int offset = 0; offset < row.limit(); offset++) {
            row.put(offset, at(layer, expert, offset));
        }
        return row.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public FloatBuffer alphas() {
        return FloatBuffer.allocate(layers * experts * PROJECTIONS).asReadOnlyBuffer();
    }
}
