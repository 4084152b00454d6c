package org.expertpool.harness.run;

import java.util.Locale;
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

    DeviceEngine install(Cell cell, RoutingTrace trace, DeviceModel experts) {
        return switch (cell.engine()) {
            case Axis.RESIDENT -> fixed(cell, experts, 0);
            case Axis.UVA -> fixed(cell, experts, hostLayers(cell, experts));
            case Axis.POOL -> pool(cell, trace, experts);
            case Axis.HOST_PLANNED, Axis.HEAT -> hostPlaced(cell, trace, experts);
            case Axis.STREAM -> stream(cell, experts, 0);
            case Axis.STREAM_HITS -> stream(cell, experts, streamedResidents(cell, experts));
            default -> throw new BadInputException("engine is " + cell.engine() + ", expected one of " + Axis.ENGINES);
        };
    }

    private static int hostLayers(Cell cell, DeviceModel experts) {
        return FixedEngine.hostLayers(experts, cell.memoryBytes().orElse(0));
    }

    private DeviceEngine fixed(Cell cell, DeviceModel experts, int hostLayers) {
        long rows = (long) (experts.layers() - hostLayers) * experts.shape().experts();
        refuseBeyondMemory(cell, experts, rows);
        return new Fixed(FixedEngine.uva(experts, hostLayers), experts);
    }

    private static DeviceEngine stream(Cell cell, DeviceModel experts, int residents) {
        refuseBeyondMemory(cell, experts, 2L * experts.shape().experts() + (long) experts.layers() * residents);
        return new Fixed(new StreamEngine(experts, residents), experts);
    }

    private static int streamedResidents(Cell cell, DeviceModel experts) {
        int residents = StreamEngine.residents(experts.shape(), experts.layers(), cell.rows());
        CellSettings.require(residents > 0, "rows", cell.rows(), "more than two layers' experts take of the whole");
        return residents;
    }

    private DeviceEngine pool(Cell cell, RoutingTrace trace, DeviceModel experts) {
        return new PoolCell(cell, trace, counts, experts, config(cell, experts));
    }

    private DeviceEngine hostPlaced(Cell cell, RoutingTrace trace, DeviceModel experts) {
        return new HostPlacedCell(cell, trace, counts, experts, config(cell, experts));
    }

    private static PoolConfig config(Cell cell, DeviceModel experts) {
        PoolConfig config = new PoolConfig(
                experts.layers(), experts.shape().experts(), experts.shape().topK(), cell.rows(), cell.decodeTokens());
        refuseBeyondMemory(cell, experts, config.bankRows());
        return config;
    }

    /** Refuses before anything is allocated what the cell's memory, or the device's, does not hold. */
    private static void refuseBeyondMemory(Cell cell, DeviceModel experts, long rows) {
        long bankBytes = experts.shape().row().rowOffset(rows);
        long most = Math.min(
                cell.memoryBytes().orElse(Long.MAX_VALUE), experts.context().freeBytes());
        if (bankBytes > most) {
            throw new BadInputException(String.format(
                    Locale.ROOT, "expert rows take %d bytes of device memory, expected at most %d", bankBytes, most));
        }
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
