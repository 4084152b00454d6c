package org.expertpool.pool.cuda.engine;

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

    /** A layer's rows in the host source, as kernels read them. */
    RowView hostRows(int layer) {
        return new RowView(source.deviceRow(layer), shape.row());
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
