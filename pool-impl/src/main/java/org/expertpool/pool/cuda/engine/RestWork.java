package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.cuda.CudaStream;

/** The stand-ins of every layer in their order: dense weights, KV cache, router. The digests hold all that the reads read. */
final class RestWork implements AutoCloseable {
    private final StandInLayers dense; // null for none, as the others
    private final ContextWork context;
    private final RouterWork router;

    RestWork(DeviceModel model, CallMemory calls, LayerRest rest) {
        dense = rest.denseBytes() == 0 ? null : StandInLayers.dense(model, calls, rest.denseBytes());
        context = rest.readsContext()
                ? new ContextWork(model, calls, rest, layer -> dense == null ? 0 : dense.digest(layer))
                : null;
        router = rest.router() ? new RouterWork(model, calls) : null;
    }

    void enqueue(int layer, CudaStream stream) {
        if (dense != null) {
            dense.enqueue(layer, stream);
        }
        if (context != null) {
            context.enqueue(layer, stream);
        }
        if (router != null) {
            router.enqueue(layer, stream);
        }
    }

    /** Device address of a u64 that a layer's routing waits for by data; 0: nothing was read. */
    long digest(int layer) {
        if (context != null) {
            return context.digest(layer);
        }
        return dense == null ? 0 : dense.digest(layer);
    }

    /** Without a KV cache, nothing. */
    void setContext(long tokens, CudaStream stream) {
        if (context != null) {
            context.setTokens(tokens, stream);
        }
    }

    @Override
    public void close() {
        if (router != null) {
            router.close();
        }
        if (context != null) {
            context.close();
        }
        if (dense != null) {
            dense.close();
        }
    }
}
