package org.expertpool.harness.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.expertpool.harness.analysis.RunDetails;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.Bounds;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/**
 * Cells without a device: counts from the exact planner replayed over the trace, times from the cost model, memory from
 * the capacity model. Cells that differ in graph mode, context, memory or device alone share one simulation; all
 * simulations of a run are computed ahead, as many at a time as there are cores.
 */
final class ModelBackend implements CellBackend {
    private static final double SELECTIONS_PER_SECOND = 5e6;
    private static final double SECONDS_PER_TRACE = 5;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double MICROS_PER_MILLISECOND = 1e3;
    private static final double BYTES_PER_GB = 1e9;

    private final Definition definition;
    private final ModelGeometry model;
    private final TraceLibrary traces;
    private final CellCounts counts;
    private final Map<Map<String, String>, CompletableFuture<SimulationResult>> simulations = new ConcurrentHashMap<>();
    private final Map<Map<String, String>, CompletableFuture<Bounds>> bounds = new ConcurrentHashMap<>();
    private final ExecutorService workers =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors(), ModelBackend::worker);

    ModelBackend(Definition definition, TraceLibrary traces) {
        this.definition = definition;
        this.model = ModelWeights.of(definition.model(), definition.activations(), traces.files())
                .geometry();
        this.traces = traces;
        counts = new CellCounts(definition, model);
    }

    private static Thread worker(Runnable work) {
        Thread thread = new Thread(work, "simulation");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public String name() {
        return "model";
    }

    @Override
    public String basis() {
        return "modelled";
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        long runs = cells.stream().map(Cell::simulationKey).distinct().count();
        long seeds = cells.stream().map(Cell::seed).distinct().count();
        long forwards;
        try {
            forwards = definition.trace() instanceof TraceSpec.Preset preset
                    ? preset.forwards()
                    : traces.open(cells.get(0)).forwards();
        } catch (SkippedException | IOException absent) {
            return 0;
        }
        double selections = (double) runs * forwards * model.layers() * model.topK();
        int cores = Runtime.getRuntime().availableProcessors();
        return seeds * SECONDS_PER_TRACE + selections / SELECTIONS_PER_SECOND / cores;
    }

    @Override
    public Map<String, String> inputs() {
        return traces.sources();
    }

    @Override
    public void prepare(List<Cell> cells) {
        // What a simulation throws surfaces when its cell is measured.
        cells.stream()
                .filter(Cell::isPool)
                .map(cell -> simulation(cell).thenCompose(result -> bounds(cell, result)))
                .forEach(future -> {});
    }

    private CompletableFuture<SimulationResult> simulation(Cell cell) {
        return simulations.computeIfAbsent(
                cell.simulationKey(), key -> CompletableFuture.supplyAsync(() -> simulate(cell), workers));
    }

    /** The bounds beside a result: at its rows, scope and start, which the policy's name may set. */
    private CompletableFuture<Bounds> bounds(Cell cell, SimulationResult result) {
        Map<String, String> key = new TreeMap<>(cell.simulationKey());
        key.keySet().removeIf(name -> name.startsWith(Axis.CONTROL_PREFIX));
        key.put(Axis.POLICY.key(), "bounds");
        key.put(Axis.SCOPE.key(), result.scope().toString());
        key.put("initial", result.initial().toString());
        return bounds.computeIfAbsent(key, any -> CompletableFuture.supplyAsync(() -> bound(cell, result), workers));
    }

    private Bounds bound(Cell cell, SimulationResult result) {
        RoutingTrace trace = trace(cell);
        SimulationRequest same = counts.request(cell, trace)
                .withControls(Map.of())
                .withScope(result.scope())
                .withInitial(result.initial());
        return Bounds.of(trace, same, cell.rows());
    }

    private SimulationResult simulate(Cell cell) {
        return counts.simulate(cell, trace(cell));
    }

    private RoutingTrace trace(Cell cell) {
        try {
            return traces.open(cell);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Override
    public void measure(Cell cell, int repetition, ResultRow.Builder row) {
        if (!cell.isPool()) {
            throw new BadInputException("engine " + cell.engine()
                    + ": the model backend replays a pool's planner, expected engine pool, or backend java or cuda");
        }
        CellSettings.require(
                cell.partition().equals(Axis.HOST_VIEW),
                "partition",
                cell.partition(),
                "host-view: the policies that are simulated keep nothing of wide calls");
        CellSettings.require(cell.ple().equals(Axis.NO_ROWS), "ple", cell.ple(), "off: what it costs is not modelled");
        CellSettings.require(
                !cell.rest().equals(Axis.ROUTED_AHEAD),
                "rest",
                cell.rest(),
                "none, dense or full: what a router's place between the layers takes is in the model's constants");
        for (Axis axis : List.of(Axis.GRAPH_MODE, Axis.MEMORY)) {
            if (cell.device().isEmpty() && cell.setting(axis).isPresent()) {
                throw new BadInputException(
                        axis.key() + " is " + cell.setting(axis).get()
                                + ": expected axes.device beside it where times and memory are modelled");
            }
        }
        SimulationResult result = join(simulation(cell));
        counts.put(row, cell, result);
        counts.put(row, join(bounds(cell, result)).gap(result.misses()));
        row.put("bank_bytes", bankBytes(cell, result));
        Optional<DeviceProfile> device = cell.device().map(DeviceProfile::load);
        if (device.isPresent()) {
            cell.graphMode().ifPresent(mode -> putTimes(row, cell, result, device.get(), mode));
            putMemory(row, cell, device.get());
        }
    }

    @Override
    public List<Table> details(List<Cell> cells, int stretchForwards) throws IOException {
        RunDetails details = new RunDetails(stretchForwards);
        boolean first = true; // one trace's tables: those of other seeds differ by chance alone
        for (Cell cell : cells) {
            RoutingTrace trace = traces.open(cell);
            details.add(cell.id(), trace, counts.request(cell, trace), first);
            first = false;
        }
        return details.tables();
    }

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw failure;
        }
    }

    private long bankBytes(Cell cell, SimulationResult result) {
        long planned = Math.max(1, Math.min(cell.decodeTokens(), 64 / model.topK()));
        return (result.capacityRows() + planned * model.topK()) * model.rowBytes();
    }

    private void putTimes(
            ResultRow.Builder row, Cell cell, SimulationResult result, DeviceProfile device, GraphMode mode) {
        if (cell.decodeTokens() > 1) {
            throw new BadInputException("graph_mode " + mode.word() + " beside decode_tokens " + cell.decodeTokens()
                    + ": decode time is modelled for one token a forward");
        }
        if (result.forwards() == 0) {
            return;
        }
        CostModel cost = new CostModel(model, device, beside(cell));
        double micros =
                cost.decodeMicros(mode, result.steps(), cell.contextTokens().orElse(0));
        row.put("decode_tok_per_s", MICROS_PER_SECOND / micros);
        row.put("decode_ms_per_token", micros / MICROS_PER_MILLISECOND);
        row.put("h2d_gb_per_s", counts.bytesPerForward(cell, result) / BYTES_PER_GB / (micros / MICROS_PER_SECOND));
        StepTimes times = StepTimes.of(result.steps(), cost::poolLayerMicros);
        row.put("step_p50_us", times.percentile(0.50));
        row.put("step_p99_us", times.percentile(0.99));
    }

    /** Where a definition says what else runs on a device, the same is modelled; elsewhere the whole model. */
    private static CostModel.Beside beside(Cell cell) {
        return switch (cell.setting(Axis.REST).orElse(Axis.FULL)) {
            case Axis.NO_REST -> CostModel.Beside.NOTHING;
            case Axis.DENSE -> CostModel.Beside.DENSE_READ;
            default -> CostModel.Beside.WHOLE_MODEL;
        };
    }

    private void putMemory(ResultRow.Builder row, Cell cell, DeviceProfile device) {
        long memory = cell.memoryBytes().orElse((long) device.value("memory_bytes"));
        row.put("memory_bytes", memory);
        MemoryColumns columns = new MemoryColumns(model, memory, device);
        columns.put(row, cell);
        columns.free(cell).ifPresent(free -> row.put("free_bytes_min", free));
    }

    @Override
    public void close() {
        workers.shutdownNow();
        traces.close();
    }
}
