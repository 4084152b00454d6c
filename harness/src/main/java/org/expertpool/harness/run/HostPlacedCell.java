package org.expertpool.harness.run;

import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.HeatEngine;
import org.expertpool.pool.cuda.engine.HostPlannedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;

/** An engine whose placement the host decides, by the cell's policy. The rows that it moved must equal the simulation. */
final class HostPlacedCell implements DeviceEngine {
    private final Cell cell;
    private final RoutingTrace trace;
    private final CellCounts counts;
    private final PoolConfig config;
    private final LayerEngine engine;

    HostPlacedCell(Cell cell, RoutingTrace trace, CellCounts counts, DeviceModel experts, PoolConfig config) {
        this.cell = cell;
        this.trace = trace;
        this.counts = counts;
        this.config = config;
        PolicyKind policy = Policies.named(cell.policy());
        PolicySetup setup = PolicySetup.of(
                config,
                cell.scope(),
                counts.definition().window(cell).initial(),
                PoolControls.DEFAULTS.withGate(true).with(cell.controls()));
        engine = cell.engine().equals(Axis.HEAT)
                ? new HeatEngine(experts, policy, setup)
                : new HostPlannedEngine(experts, policy, setup);
    }

    /** Refuses what the engine would, before anything is loaded. */
    static void refuse(Cell cell, Window window) {
        CellSettings.require(!window.resetAtSequence(), "reset", "sequence", "no reset: a placement is installed once");
        if (cell.engine().equals(Axis.HOST_PLANNED)) {
            GraphMode mode = cell.graphMode().orElse(GraphMode.FULL_DECODE);
            CellSettings.require(
                    mode == GraphMode.NONE || mode == GraphMode.PIECEWISE,
                    "graph_mode",
                    mode.word(),
                    "none or piecewise: the host decides between a layer's router and its experts");
        }
    }

    @Override
    public LayerEngine narrow() {
        return engine;
    }

    @Override
    public LayerEngine wide() {
        return engine;
    }

    @Override
    public int narrowLanes() {
        return config.width().lanes();
    }

    @Override
    public void begin() {
        if (engine instanceof HostPlannedEngine planned) {
            planned.openGate();
        }
    }

    @Override
    public void finish(DeviceReplay.Result result, ResultRow.Builder row) {
        engine.check(RowCheck.SAMPLED);
        SimulationResult simulated = counts.simulate(cell, trace);
        CellCounts.requireSame("promoted", result.hostPlanned().promoted(), simulated.promoted());
        CellCounts.requireSame("staged", result.hostPlanned().staged(), simulated.staged());
        CellCounts.requireSame("exchanged", result.hostPlanned().exchanged(), simulated.exchanged());
        CellCounts.requireSame("selections", result.planned().selected(), simulated.selections());
        CellCounts.requireSame("forwards", result.planned().forwards(), simulated.forwards());
        CellCounts.requireSame("forwards", result.forwards(), simulated.forwards() + simulated.partitionForwards());
        counts.put(row, cell, simulated);
        row.put("bank_bytes", engine.bankBytes());
        DeviceTimes.putLinkRate(result, counts.bytesPerForward(cell, simulated) * simulated.forwards(), row);
    }

    @Override
    public void close() {
        engine.close();
    }
}
