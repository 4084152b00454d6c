package org.expertpool.harness.run;

import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.StreamEngine;
import org.expertpool.pool.plan.PoolConfig;

/** From a cell to its engine: one method for each word of the {@code engine} axis. */
final class DeviceEngines {
    private final Definition definition;
    private final CellCounts counts;

    DeviceEngines(Definition definition, CellCounts counts) {
        this.definition = definition;
        this.counts = counts;
    }

    /** Refuses settings that no engine here has. */
    void refuse(Cell cell) {
        if (cell.isPool()) {
            CellSettings.requireInstalledPool(cell, definition.window(cell));
        } else if (cell.isPlaced()) {
            HostPlacedCell.refuse(cell, definition.window(cell));
        }
    }

    /**
     * Bytes of device memory that the rows of a cell's engine take.
     *
     * @param budgetBytes what rows may take where an engine fills what there is
     */
    long bankBytes(Cell cell, DeviceModel experts, long budgetBytes) {
        int all = experts.shape().experts();
        long rows = switch (cell.engine()) {
            case Axis.RESIDENT -> (long) experts.layers() * all;
            case Axis.UVA -> (long) (experts.layers() - FixedEngine.hostLayers(experts, budgetBytes)) * all;
            case Axis.STREAM -> 2L * all;
            case Axis.STREAM_HITS -> 2L * all + (long) experts.layers() * streamedResidents(cell, experts);
            default -> config(cell, experts).bankRows();
        };
        return experts.shape().row().rowOffset(rows);
    }

    /** Makes the engine; {@code budgetBytes} as for {@link #bankBytes}. */
    DeviceEngine install(Cell cell, RoutingTrace trace, DeviceModel experts, long budgetBytes) {
        return switch (cell.engine()) {
            case Axis.RESIDENT -> new Fixed(FixedEngine.resident(experts), experts);
            case Axis.UVA -> new Fixed(FixedEngine.uva(experts, FixedEngine.hostLayers(experts, budgetBytes)), experts);
            case Axis.POOL -> new PoolCell(cell, trace, counts, experts, config(cell, experts));
            case Axis.HOST_PLANNED, Axis.HEAT ->
                new HostPlacedCell(cell, trace, counts, experts, config(cell, experts));
            case Axis.STREAM -> new Fixed(new StreamEngine(experts, 0), experts);
            case Axis.STREAM_HITS -> new Fixed(new StreamEngine(experts, streamedResidents(cell, experts)), experts);
            default -> throw new BadInputException("engine is " + cell.engine() + ", expected one of " + Axis.ENGINES);
        };
    }

    private static int streamedResidents(Cell cell, DeviceModel experts) {
        int residents = StreamEngine.residents(experts.shape(), experts.layers(), cell.rows());
        CellSettings.require(residents > 0, "rows", cell.rows(), "more than two layers' experts take of the whole");
        return residents;
    }

    private static PoolConfig config(Cell cell, DeviceModel experts) {
        return new PoolConfig(
                experts.layers(), experts.shape().experts(), experts.shape().topK(), cell.rows(), cell.decodeTokens());
    }

    /** An engine whose rows never move: nothing to check but the outputs. */
    private record Fixed(LayerEngine engine, DeviceModel experts) implements DeviceEngine {
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
            return experts.shape().topK();
        }

        @Override
        public void finish(DeviceReplay.Result result, ResultRow.Builder row) {
            row.put("experts", experts.shape().experts());
            row.put("forwards", result.forwards());
            row.put("bank_bytes", engine.bankBytes());
        }

        @Override
        public void close() {
            engine.close();
        }
    }
}
