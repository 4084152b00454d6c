package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;
import org.expertpool.pool.route.StreamPlan;

/**
 * Brings each missing row of a layer over the link once, by the copy engine, through a ring of device rows: group g is
 * computed while group g + 1 is copied, and the residents while the first is. The host waits for each layer's routing, so
 * this can't be captured in a graph.
 */
final class StreamedCalls implements LayerCalls {
    private final DevicePool pool;
    private final WidePool.Streamed way;
    private final DevicePartition partition;
    private final DeviceBank ring;
    private final CudaStream copies;
    private final CudaEvent routed; // the host may read what the partition found
    private final List<CudaEvent> arrived = new ArrayList<>(); // by group
    private final List<CudaEvent> computed = new ArrayList<>(); // by group
    private final WideParts parts;

    StreamedCalls(DevicePool pool, CallMemory memory, WidePool.Streamed way) {
        this.pool = pool;
        this.way = way;
        DeviceModel model = pool.model();
        partition = new DevicePartition(pool, memory, way.shape().ringRows());
        ring = new DeviceBank(model.context(), model.shape().row(), way.shape().ringRows());
        copies = new CudaStream(model.context());
        routed = CudaEvent.withoutTime(model.context());
        parts = new WideParts(
                model,
                memory,
                partition.safeIds(),
                pool::residents,
                layer -> new WideParts.Rows(ring.view(), partition.ringRows()));
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        if (stream.isCapturing()) {
            throw new BadInputException("graph mode full: rows streamed by the copy engine have addresses that the host"
                    + " chooses, which a graph can't hold; expected the host view");
        }
        WideParts.Layer calls = parts.layer(layer);
        partition.enqueue(layer, stream);
        routed.record(stream);
        calls.hits().enqueueAlign(stream); // while the host waits
        routed.await("learn what layer " + layer + " lacks");
        TouchedExperts touched = partition.touched();
        List<StreamPlan.Group> groups = StreamPlan.cut(touched.missing(), touched.missing().length, way.shape());

        // The ring is free: what read it last was computed before the routing that the host has seen.
        int next = copyThrough(StreamPlan.NOTHING, 0, groups, layer);
        KeptRows kept = keep(layer, touched);
        if (touched.anyResident()) {
            calls.hits().enqueueGemms(stream);
        }
        int[] firstBlocks = touched.firstBlocks(calls.others().blockLanes());
        for (int g = 0; g < groups.size(); g++) {
            StreamPlan.Group group = groups.get(g);
            int first = firstBlocks[touched.missing()[group.from()]];
            int end = firstBlocks[touched.missing()[group.to() - 1] + 1];
            stream.waitFor(event(arrived, g));
            calls.others().enqueueGemms(first, end - first, stream);
            for (int place = group.from(); place < group.to(); place++) {
                int row = kept.rowOf(touched.missing()[place]);
                if (row != PoolTables.ABSENT) {
                    pool.bank().copyRows(row, ring, place % way.shape().ringRows(), 1, stream);
                }
            }
            event(computed, g).record(stream);
            next = copyThrough(g, next, groups, layer);
        }
        calls.hits().enqueueSum(stream);
        kept.uploadTables();
    }

    @Override
    public long plan(int layer) {
        return 0;
    }

    @Override
    public void close() {
        parts.close();
        computed.forEach(CudaEvent::close);
        arrived.forEach(CudaEvent::close);
        routed.close();
        copies.close();
        ring.close();
        partition.close();
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
                ring.copyIn(run.ringRow(), pool.model().source(), layer, run.hostRow(), run.rows(), copies);
            }
            event(arrived, left).record(copies);
        }
        return left;
    }

    /** Chooses, while the first rows are on their way, what stays. */
    private KeptRows keep(int layer, TouchedExperts touched) {
        if (way.prefillPromote() == 0 || !pool.controls().gateOpen()) {
            return KeptRows.NONE;
        }
        PoolTables tables = pool.tables();
        return new KeptRows(
                pool, tables, PrefillPromotion.apply(tables, layer, touched.laneCounts(), way.prefillPromote()));
    }

    private CudaEvent event(List<CudaEvent> events, int group) {
        while (events.size() <= group) {
            events.add(CudaEvent.withoutTime(pool.model().context()));
        }
        return events.get(group);
    }
}
