package org.expertpool.harness.run;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;

/**
 * Cells on a device with real kernels: the routed MoE of every layer, routing from the trace in honest order, a hash of
 * every forward's outputs. Nothing stands in for the rest of a model. Counts come from the device's own plans and must
 * equal the simulation's; times are the device's.
 */
final class CudaBackend implements CellBackend {
    private static final int COPY_BLOCKS = 16;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double MICROS_PER_MILLI = 1e3;
    private static final double BYTES_PER_GB = 1e9;
    private static final double LOADED_BYTES_PER_SECOND = 2e10;

    private record Loaded(long seed, DeviceModel model) {}

    private final Definition definition;
    private final ModelWeights weights;
    private final ModelGeometry model;
    private final TraceLibrary traces;
    private final CellCounts counts;
    private CudaContext context; // opened by the first cell, on the thread that measures
    private Loaded loaded;
    private String lost; // where the driver failed: most of its errors stay

    CudaBackend(Definition definition, TraceLibrary traces) {
        this.definition = definition;
        weights = ModelWeights.of(definition.model(), traces.files());
        model = weights.geometry();
        this.traces = traces;
        counts = new CellCounts(definition, model);
    }

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public String basis() {
        return "measured";
    }

    @Override
    public String device(Cell cell) {
        if (context == null) {
            return "";
        }
        return context.driverKind() == DriverKind.STUB
                ? "stub: " + context.device().name()
                : context.device().name();
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        long seeds = cells.stream().map(Cell::seed).distinct().count();
        return (seeds + cells.size()) * model.allExpertBytes() / LOADED_BYTES_PER_SECOND;
    }

    @Override
    public Map<String, String> inputs() {
        Map<String, String> inputs = new TreeMap<>(traces.sources());
        inputs.put("weights", weights.source());
        return inputs;
    }

    @Override
    public void measure(Cell cell, int repetition, ResultRow.Builder row) throws IOException {
        refuse(cell);
        if (lost != null) {
            throw new PoolFailureException("the device was lost in " + lost);
        }
        RoutingTrace trace = traces.open(cell.seed());
        counts.requireSameShape(trace.shape());
        try {
            run(cell, trace, row);
        } catch (CudaException sticky) {
            lost = "cell " + cell.id() + ": " + sticky.getMessage();
            throw sticky;
        }
    }

    private void run(Cell cell, RoutingTrace trace, ResultRow.Builder row) {
        if (context == null) {
            context = CudaContext.open();
        }
        row.put("device", device(cell));
        DeviceModel experts = load(cell.seed().orElse(1));
        DeviceReplay.Result result =
                cell.isPool() ? runPool(cell, trace, experts, row) : runFixed(cell, trace, experts, row);
        row.put("output_sha256", result.outputSha256());
        row.put("note", note(cell));
        putTimes(row, result);
    }

    private String note(Cell cell) {
        return cell.rest().equals(Axis.DENSE)
                ? "experts, and " + model.denseBytesPerLayer() + " dense bytes read a layer"
                : "experts alone";
    }

    private void refuse(Cell cell) {
        GraphMode mode = cell.graphMode().orElse(GraphMode.FULL_DECODE);
        CellSettings.require(
                mode != GraphMode.PIECEWISE || cell.rest().equals(Axis.DENSE),
                "graph_mode",
                mode.word(),
                "another without rest = \"dense\": a graph around nothing is none");
        CellSettings.require(cell.device().isEmpty(), "device", cell.device().orElse(""), "none: it is this machine's");
        CellSettings.require(
                cell.contextTokens().isEmpty(), "context", cell.contextTokens(), "none: there is no KV cache here");
        if (!cell.isPool()) {
            return;
        }
        CellSettings.requireInstalledPool(cell, definition.window(cell));
    }

    /** The experts of a seed in pinned memory; those of the last one are kept, as cells of a seed follow each other. */
    private DeviceModel load(long seed) {
        if (loaded == null || loaded.seed() != seed) {
            if (loaded != null) {
                loaded.model().close();
            }
            loaded = null;
            PinnedSource source = weights.pinnedExperts(context, seed, layer -> {});
            loaded = new Loaded(seed, DeviceModel.of(context, source, model.topK()));
        }
        return loaded.model();
    }

    private DeviceReplay.Result runFixed(Cell cell, RoutingTrace trace, DeviceModel experts, ResultRow.Builder row) {
        boolean resident = cell.engine().equals(Axis.RESIDENT);
        int hostLayers = resident
                ? 0
                : FixedEngine.hostLayers(experts, cell.memoryBytes().orElse(0));
        refuseBeyondMemory(cell, (long) (model.layers() - hostLayers) * model.experts() * model.rowBytes());
        try (LayerEngine engine = FixedEngine.uva(experts, hostLayers);
                DeviceReplay replay = replay(cell, trace, experts, engine, engine)) {
            DeviceReplay.Result result = replay.run();
            row.put("experts", model.experts());
            row.put("forwards", result.forwards());
            row.put("bank_bytes", engine.bankBytes());
            row.put("free_bytes_min", context.freeBytes());
            return result;
        }
    }

    private DeviceReplay.Result runPool(Cell cell, RoutingTrace trace, DeviceModel experts, ResultRow.Builder row) {
        PoolConfig config =
                new PoolConfig(model.layers(), model.experts(), model.topK(), cell.rows(), cell.decodeTokens());
        refuseBeyondMemory(cell, config.bankRows() * model.rowBytes());
        try (DevicePool pool = DevicePool.install(experts, config, COPY_BLOCKS);
                DeviceReplay replay = replay(cell, trace, experts, pool, new WidePool(pool, new WidePool.HostView()))) {
            pool.control(cell.controls());
            pool.openGate(RowCheck.SAMPLED);
            DeviceReplay.Result result = replay.run();
            pool.synchronise("look for invalid routing");
            pool.check(RowCheck.SAMPLED);
            SimulationResult simulated = counts.simulate(cell, trace);
            same("promoted", result.planned().promoted(), simulated.promoted());
            same("staged", result.planned().staged(), simulated.staged());
            same("forwards", result.forwards(), simulated.forwards() + simulated.partitionForwards());
            counts.put(row, simulated);
            row.put("bank_bytes", pool.bankBytes());
            row.put("free_bytes_min", context.freeBytes());
            if (result.steadyMicros() > 0) {
                double copied = counts.bytesPerForward(simulated) * simulated.forwards();
                double micros = result.decodeMicros().stream()
                        .mapToDouble(Double::doubleValue)
                        .sum();
                row.put("h2d_gb_per_s", copied / BYTES_PER_GB / (micros / MICROS_PER_SECOND));
            }
            return result;
        }
    }

    private DeviceReplay replay(
            Cell cell, RoutingTrace trace, DeviceModel experts, LayerEngine planned, LayerEngine wide) {
        GraphMode mode = cell.graphMode().orElse(GraphMode.FULL_DECODE);
        int plannedLanes = cell.isPool()
                ? new PoolConfig(model.layers(), model.experts(), model.topK(), cell.rows(), cell.decodeTokens())
                        .width()
                        .lanes()
                : model.topK();
        DecodeGraph decode = switch (mode) {
            case NONE -> DecodeGraph.NONE;
            case PIECEWISE -> DecodeGraph.PIECEWISE;
            case FULL_DECODE, FULL -> DecodeGraph.FULL_DECODE;
        };
        DecodeGraph prefill = switch (mode) {
            case NONE, FULL_DECODE -> DecodeGraph.NONE;
            case PIECEWISE -> DecodeGraph.PIECEWISE;
            case FULL -> DecodeGraph.FULL_DECODE;
        };
        long denseBytes = cell.rest().equals(Axis.DENSE) ? model.denseBytesPerLayer() / 16 * 16 : 0;
        return new DeviceReplay(
                trace,
                definition.window(cell).score(),
                experts,
                tokens -> tokens * model.topK() <= plannedLanes
                        ? new DeviceReplay.Way(planned, decode, denseBytes)
                        : new DeviceReplay.Way(wide, prefill, denseBytes),
                cell.seed().orElse(1));
    }

    /** Refuses before anything is allocated what the cell's memory, or the device's, does not hold. */
    private void refuseBeyondMemory(Cell cell, long bankBytes) {
        long most = Math.min(cell.memoryBytes().orElse(Long.MAX_VALUE), context.freeBytes());
        if (bankBytes > most) {
            throw new BadInputException(String.format(
                    Locale.ROOT, "expert rows take %d bytes of device memory, expected at most %d", bankBytes, most));
        }
    }

    private static void same(String what, long actual, long simulated) {
        if (actual != simulated) {
            throw new PoolFailureException(
                    what + " of the device's own plans: " + actual + ", expected " + simulated + " as simulated");
        }
    }

    private void putTimes(ResultRow.Builder row, DeviceReplay.Result result) {
        if (result.steadyTokens() == 0) {
            return;
        }
        row.put("decode_tok_per_s", result.steadyTokens() * MICROS_PER_SECOND / result.steadyMicros());
        row.put("decode_ms_per_token", result.steadyMicros() / MICROS_PER_MILLI / result.steadyTokens());
        List<Double> sorted = result.decodeMicros().stream().sorted().toList();
        Stream.of(50, 99)
                .forEach(percent -> row.put(
                        "step_p" + percent + "_us",
                        sorted.get((int) Math.ceil(percent / 100.0 * sorted.size()) - 1) / model.layers()));
    }

    @Override
    public void close() throws IOException {
        traces.close();
        if (context != null && lost == null) {
            context.close();
        }
    }
}
