package org.expertpool.pool.cuda;

/** Something of the driver's that is freed once: by its own close, or by that of the context, newest first. */
abstract class CudaResource implements AutoCloseable {
    private final CudaContext context;
    private boolean closed;
    long number; // in the order of making, the context's

    CudaResource(CudaContext context) {
        this.context = context;
    }

    /** Frees it; called once. */
    abstract void release();

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            context.forget(this);
            release();
        }
    }
}
