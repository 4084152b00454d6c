package org.expertpool.pool.cuda.engine;

import java.util.function.Function;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.PinnedSource;

/**
 * What all engines of a model share: the rows in pinned memory, the alphas on the device, and one stream for everything.
 *
 * @param shape of every layer
 */
public record DeviceModel(
        CudaContext context, CudaStream stream, PinnedSource source, AlphaTable alphas, MoeShape shape)
        implements AutoCloseable {
    /** Uploads the alphas. */
    public static DeviceModel of(CudaContext context, PinnedSource source, int topK) {
        MoeShape shape = new MoeShape(source.experts(), topK, source.layout(), source.activations());
        try (CudaContext.Attempt all = context.attempt()) {
            CudaStream stream = new CudaStream(context);
            DeviceModel model =
                    new DeviceModel(context, stream, source, new AlphaTable(context, source, stream), shape);
            all.succeeded();
            return model;
        }
    }

    /** The same memory with other rows, as {@link PinnedSource#refilled} gives them; this object is spent. */
    public DeviceModel refilled(Function<SlabAllocator, HostSource> loader) {
        PinnedSource next = source.refilled(loader);
        alphas.close();
        return new DeviceModel(context, stream, next, new AlphaTable(context, next, stream), shape);
    }

    /** A layer's rows in the host source, as kernels read them. */
    RowView hostRows(int layer) {
        return new RowView(source.deviceRow(layer), shape.row(), true);
    }

    public int layers() {
        return source.layers();
    }

    /** Frees all of it, the rows too. */
    @Override
    public void close() {
        alphas.close();
        stream.close();
        source.close();
    }
}
