package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;

/**
 * What follows a planned step, for graphs: the hits' GEMMs run while missing rows cross the link, and the misses' gate and up
 * while the second half of the rows does. The same bits as one after the other, since a lane's result depends on its own
 * inputs alone and the last block of all adds up the lanes in slot order.
 *
 * <pre>
 * stream ------> gate-up, hits ------> down, hits --------------------+-> stream
 *    \-> copy w13 -+--> copy w2 -----------------+                   /
 *                   \--> gate-up, misses ---------+-> down, misses -/
 * </pre>
 */
final class OverlappedCalls implements AutoCloseable {
    private static final int CALLS = 2;

    private record Layer(RowCopier.Launch w13, RowCopier.Launch w2, MoeLaunch hits, MoeLaunch misses)
            implements AutoCloseable {
        @Override
        public void close() {
            misses.close();
            hits.close();
            w2.close();
            w13.close();
        }
    }

    private final CudaStream copies;
    private final CudaStream misses;
    private final CudaEvent planned;
    private final CudaEvent firstHalf;
    private final CudaEvent secondHalf;
    private final CudaEvent done;
    private final List<Layer> layers = new ArrayList<>();

    /** @param moe whose calls may be apart at this number of tokens */
    OverlappedCalls(DevicePool pool, CallMemory memory, DeviceMoe moe) {
        CudaContext context = pool.model().context();
        copies = new CudaStream(context);
        misses = new CudaStream(context);
        planned = CudaEvent.withoutTime(context);
        firstHalf = CudaEvent.withoutTime(context);
        secondHalf = CudaEvent.withoutTime(context);
        done = CudaEvent.withoutTime(context);
        for (int layer = 0; layer < pool.model().layers(); layer++) {
            layers.add(new Layer(
                    pool.copier().bind(layer, pool.plan(layer), RowCopier.Part.GATE_UP),
                    pool.copier().bind(layer, pool.plan(layer), RowCopier.Part.DOWN),
                    moe.bindApart(PoolCalls.call(pool, memory, layer, STEP_OUTPUT.offset("hitRows")), CALLS),
                    moe.bindApart(PoolCalls.call(pool, memory, layer, STEP_OUTPUT.offset("missRows")), CALLS)));
        }
    }

    /** Enqueues a layer's copies and GEMMs behind its step; the stream goes on when all have ended. */
    void enqueue(int layer, CudaStream stream) {
        Layer calls = layers.get(layer);
        planned.record(stream);
        copies.waitFor(planned);
        calls.w13().enqueue(copies);
        firstHalf.record(copies);
        calls.w2().enqueue(copies);
        secondHalf.record(copies);

        misses.waitFor(firstHalf);
        calls.misses().enqueueGateUp(misses);
        misses.waitFor(secondHalf);
        calls.misses().enqueueDown(misses);
        done.record(misses);

        calls.hits().enqueueGateUp(stream);
        calls.hits().enqueueDown(stream);
        stream.waitFor(done);
    }

    @Override
    public void close() {
        layers.forEach(Layer::close);
        done.close();
        secondHalf.close();
        firstHalf.close();
        planned.close();
        misses.close();
        copies.close();
    }
}
