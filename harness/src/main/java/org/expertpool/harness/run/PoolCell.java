package org.expertpool.harness.run;

import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.route.StreamPlan;

/** A pool as a cell asks for it. What its plans on the device selected and copied must equal the simulation. */
final class PoolCell implements DeviceEngine {
    private static final int COPY_BLOCKS = 16;

    private final Cell cell;
    private final RoutingTrace trace;
    private final CellCounts counts;
    private final DevicePool pool;
    private final LayerEngine wide;

    PoolCell(Cell cell, RoutingTrace trace, CellCounts counts, DeviceModel experts, PoolConfig config) {
        this.cell = cell;
        this.trace = trace;
        this.counts = counts;
        WidePool.Way way = cell.partition().equals(Axis.STREAMED)
                ? new WidePool.Streamed(StreamPlan.Shape.DEFAULT, cell.prefillPromote())
                : new WidePool.HostView();
        pool = DevicePool.install(experts, config, COPY_BLOCKS);
        wide = new WidePool(pool, way);
    }

    @Override
    public LayerEngine narrow() {
        return pool;
    }

    @Override
    public LayerEngine wide() {
        return wide;
    }

    @Override
    public int narrowLanes() {
        return pool.config().width().lanes();
    }

    @Override
    public void begin() {
        pool.control(cell.controls());
        pool.openGate(RowCheck.SAMPLED);
    }

    @Override
    public void finish(DeviceReplay.Result result, ResultRow.Builder row) {
        pool.synchronise("look for invalid routing");
        pool.check(RowCheck.SAMPLED);
        SimulationResult simulated = counts.simulate(cell, trace);
        CellCounts.requireSame("promoted", result.planned().promoted(), simulated.promoted());
        CellCounts.requireSame("staged", result.planned().staged(), simulated.staged());
        CellCounts.requireSame("selections", result.planned().selected(), simulated.selections());
        CellCounts.requireSame("forwards", result.planned().forwards(), simulated.forwards());
        CellCounts.requireSame("forwards", result.forwards(), simulated.forwards() + simulated.partitionForwards());
        counts.put(row, cell, simulated);
        row.put("bank_bytes", pool.bankBytes());
        DeviceTimes.putLinkRate(result, counts.bytesPerForward(cell, simulated) * simulated.forwards(), row);
    }

    @Override
    public void close() {
        pool.close();
    }
}
