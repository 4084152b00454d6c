package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.route.StreamPlan;

/**
 * Brings each missing row of a layer over the link once, by the copy engine, through a ring of device rows: group g is
 * computed while group g + 1 is copied, and the residents while the first is. The host waits for each layer's routing, so
 * this can't be captured in a graph.
 */
public final class StreamedPath implements WidePath {
    private final CudaContext context;
    private final StreamPlan.Shape shape;
    private final PinnedSource source;
    private final DevicePartition partition;
    private final DeviceBank ring;
    private final CudaStream copies;
    private final CudaEvent routed; // the host may read what the partition found
    private final List<CudaEvent> arrived = new ArrayList<>(); // by group
    private final List<CudaEvent> computed = new ArrayList<>(); // by group
    private final List<WideParts> layers = new ArrayList<>();

    /**
     * @param partition made for a ring of {@code shape.ringRows()}
     * @param calls the fixed addresses of each layer's call
     */
    public StreamedPath(
            CudaContext context,
            PoolMemory pool,
            DeviceMoe moe,
            DevicePartition partition,
            StreamPlan.Shape shape,
            IntFunction<WideCall> calls) {
        if (partition.ringSize() != shape.ringRows()) {
            throw new IllegalArgumentException(
                    "a partition for a ring of " + partition.ringSize() + " rows, expected " + shape.ringRows());
        }
        this.context = context;
        this.shape = shape;
        this.partition = partition;
        source = pool.source();
        ring = new DeviceBank(context, source.layout(), shape.ringRows());
        copies = new CudaStream(context);
        routed = CudaEvent.withoutTime(context);
        for (int layer = 0; layer < source.layers(); layer++) {
            layers.add(
                    new WideParts(pool, moe, partition, layer, calls.apply(layer), partition.ringRows(), ring.view()));
        }
    }

    /** Bytes of the ring. */
    public long ringBytes() {
        return ring.bytes();
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        if (stream.isCapturing()) {
            throw new BadInputException("graph mode full: rows streamed by the copy engine have addresses that the host"
                    + " chooses, which a graph can't hold; expected the host view");
        }
        WideParts parts = layers.get(layer);
        partition.enqueue(layer, parts.call, stream);
        routed.record(stream);
        parts.hits.enqueueAlign(stream); // while the host waits
        routed.await("learn what layer " + layer + " lacks");
        TouchedExperts touched = partition.touched();
        List<StreamPlan.Group> groups = StreamPlan.cut(touched.missing(), touched.missing().length, shape);

        // The ring is free: what read it last was computed before the routing that the host has seen.
        int next = copyThrough(StreamPlan.NOTHING, 0, groups, layer);
        if (touched.anyResident()) {
            parts.hits.enqueueGemms(stream);
        }
        int[] firstBlocks = touched.firstBlocks(parts.others.blockLanes());
        for (int g = 0; g < groups.size(); g++) {
            int first = firstBlocks[touched.missing()[groups.get(g).from()]];
            int end = firstBlocks[touched.missing()[groups.get(g).to() - 1] + 1];
            stream.waitFor(event(arrived, g));
            parts.others.enqueueGemms(first, end - first, stream);
            event(computed, g).record(stream);
            next = copyThrough(g, next, groups, layer);
        }
        parts.hits.enqueueSum(stream);
    }

    @Override
    public void close() {
        layers.forEach(WideParts::close);
        computed.forEach(CudaEvent::close);
        arrived.forEach(CudaEvent::close);
        routed.close();
        copies.close();
        ring.close();
    }

    /** Enqueues the copies of groups that overwrite no group after the given one; returns the first that is left. */
    private int copyThrough(int group, int next, List<StreamPlan.Group> groups, int layer) {
        int left = next;
        for (; left < groups.size() && groups.get(left).overwrites() <= group; left++) {
            StreamPlan.Group rows = groups.get(left);
            if (rows.overwrites() != StreamPlan.NOTHING) {
                copies.waitFor(event(computed, rows.overwrites()));
            }
            for (StreamPlan.Run run : rows.runs()) {
                ring.copyIn(run.ringRow(), source, layer, run.hostRow(), run.rows(), copies);
            }
            event(arrived, left).record(copies);
        }
        return left;
    }

    private CudaEvent event(List<CudaEvent> events, int group) {
        while (events.size() <= group) {
            events.add(CudaEvent.withoutTime(context));
        }
        return events.get(group);
    }
}
