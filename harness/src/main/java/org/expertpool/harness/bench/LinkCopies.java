package org.expertpool.harness.bench;

import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.engine.DeviceBank;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.route.StreamPlan;

/** All rows in large copies and nothing else: what the link gives over this memory. */
final class LinkCopies implements AutoCloseable {
    private static final int COPY_ROWS = StreamPlan.Shape.DEFAULT.ringRows();

    private final DeviceModel model;
    private final DeviceBank ring;
    private final CudaEvent start;
    private final CudaEvent end;

    LinkCopies(DeviceModel model) {
        this.model = model;
        try (CudaContext.Attempt all = model.context().attempt()) {
            ring = new DeviceBank(model.context(), model.shape().row(), COPY_ROWS);
            start = new CudaEvent(model.context());
            end = new CudaEvent(model.context());
            all.succeeded();
        }
    }

    /** Copies every row of every layer once; microseconds. */
    double micros() {
        int experts = model.shape().experts();
        start.record(model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            for (int expert = 0; expert < experts; expert += COPY_ROWS) {
                ring.copyIn(0, model.source(), layer, expert, Math.min(COPY_ROWS, experts - expert), model.stream());
            }
        }
        end.record(model.stream());
        return end.microsecondsSince(start);
    }

    @Override
    public void close() {
        end.close();
        start.close();
        ring.close();
    }
}
