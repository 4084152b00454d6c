package org.expertpool.pool.cuda;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.marlin.ActivationType;

/** A host source in pinned, device-mapped memory, a slab a layer: what the copy engine and kernels read rows from. */
public final class PinnedSource implements HostSource, AutoCloseable {
    private final HostSource rows;
    private final PinnedSlab[] slabs; // [L]
    private final long[] deviceRows; // [L]

    private PinnedSource(HostSource rows, PinnedSlab[] slabs) {
        this.rows = rows;
        this.slabs = slabs;
        deviceRows = new long[slabs.length];
        for (int layer = 0; layer < slabs.length; layer++) {
            deviceRows[layer] = slabs[layer].deviceAddress();
        }
    }

    /**
     * Lets a loader fill pinned slabs, one a layer, which it may ask for from several threads: pinning takes longer than
     * filling, and each thread pins its own.
     *
     * @param loader gives a source whose rows lie in the slabs of the allocator
     */
    public static PinnedSource load(CudaContext context, Function<SlabAllocator, HostSource> loader) {
        ConcurrentMap<Integer, PinnedSlab> slabs = new ConcurrentHashMap<>();
        try (CudaContext.Attempt all = context.attempt()) {
            HostSource rows = loader.apply((layer, bytes) -> context.onThisThread(() -> {
                PinnedSlab slab = PinnedSlab.large(context, bytes);
                slabs.put(layer, slab);
                return slab.buffer().duplicate().order(slab.buffer().order());
            }));
            PinnedSource source = new PinnedSource(rows, inOrder(slabs, rows.layers()));
            all.succeeded();
            return source;
        }
    }

    /**
     * Lets a loader fill the same slabs with other rows of the same shape. Nothing on the device may read the old ones
     * still; this object is spent, be it by the slabs' new owner or by a failure, after which only {@link #close} is left.
     */
    public PinnedSource refilled(Function<SlabAllocator, HostSource> loader) {
        HostSource next = loader.apply((layer, bytes) -> {
            if (layer >= slabs.length || slabs[layer].bytes() != bytes) {
                throw new BadInputException("host source: layer " + layer + " of " + bytes + " bytes in the memory of "
                        + slabs.length + " layers of " + slabs[0].bytes());
            }
            return slabs[layer].buffer().duplicate().order(slabs[layer].buffer().order());
        });
        return new PinnedSource(next, slabs);
    }

    /**
     * Pins rows that lie in memory already, and are never written.
     *
     * @param memory of each layer's rows, from a page's start on
     */
    public static PinnedSource mapped(CudaContext context, HostSource rows, List<ByteBuffer> memory) {
        try (CudaContext.Attempt all = context.attempt()) {
            PinnedSlab[] slabs = new PinnedSlab[memory.size()];
            for (int layer = 0; layer < slabs.length; layer++) {
                slabs[layer] = PinnedSlab.mapped(context, memory.get(layer));
            }
            PinnedSource source = new PinnedSource(rows, slabs);
            all.succeeded();
            return source;
        }
    }

    private static PinnedSlab[] inOrder(ConcurrentMap<Integer, PinnedSlab> byLayer, int layers) {
        PinnedSlab[] slabs = new PinnedSlab[layers];
        for (int layer = 0; layer < layers; layer++) {
            slabs[layer] = byLayer.get(layer);
            if (slabs[layer] == null) {
                throw new BadInputException("host source: layer " + layer + " lies in memory that is not pinned");
            }
        }
        return slabs;
    }

    @Override
    public ExpertRowLayout layout() {
        return rows.layout();
    }

    @Override
    public ActivationType activations() {
        return rows.activations();
    }

    @Override
    public int layers() {
        return rows.layers();
    }

    @Override
    public int experts() {
        return rows.experts();
    }

    @Override
    public ByteBuffer row(int layer, int expert) {
        return rows.row(layer, expert);
    }

    @Override
    public FloatBuffer alphas() {
        return rows.alphas();
    }

    /** Device address of a layer's first row; the others follow densely. */
    public long deviceRow(int layer) {
        return deviceRows[layer];
    }

    /** The layer's rows, for copies by the copy engine. */
    public PinnedSlab slab(int layer) {
        return slabs[layer];
    }

    @Override
    public void close() {
        for (int layer = slabs.length - 1; layer >= 0; layer--) {
            slabs[layer].close();
        }
    }
}
