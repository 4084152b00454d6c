package org.expertpool.harness.run;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.exact.CallTally;
import org.expertpool.harness.exact.EngineRun;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.engine.MoeEngine;
import org.expertpool.pool.engine.PoolEngine;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;

/**
 * Cells of small models with real arithmetic in this JVM: seeded experts or a checkpoint's, a pool whose rows are really copied and
 * poisoned between uses, the trace's forwards in honest order, and a hash of all outputs. Counts come from the planner's
 * own plans and must equal the simulation's. Times are the host clock's and say nothing of a device.
 */
final class JavaBackend implements CellBackend {
    private static final long MOST_SOURCE_BYTES = 256L << 20;
    private static final double MOST_MULTIPLY_ADDS = 2e10;
    private static final double MULTIPLY_ADDS_PER_SECOND = 2e8;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private record SeededSource(long seed, HostSource rows) {}

    private final Definition definition;
    private final ModelWeights weights;
    private final ModelGeometry model;
    private final TraceLibrary traces;
    private final CellCounts counts;
    private final Function<PoolRequest, ExpertPool> installer;
    private SeededSource source;

    JavaBackend(Definition definition, TraceLibrary traces) {
        this(definition, traces, ExpertPool::installPoisoned);
    }

    JavaBackend(Definition definition, TraceLibrary traces, Function<PoolRequest, ExpertPool> installer) {
        this.definition = definition;
        weights = ModelWeights.of(definition.model(), definition.activations(), traces.files());
        model = weights.geometry();
        this.traces = traces;
        this.installer = installer;
        counts = new CellCounts(definition, model);
    }

    @Override
    public String name() {
        return "java";
    }

    @Override
    public String basis() {
        return "measured";
    }

    @Override
    public String device(Cell cell) {
        return "JVM " + System.getProperty("java.version") + " on " + System.getProperty("os.arch");
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        return cells.stream().mapToDouble(this::estimateSeconds).sum();
    }

    private double estimateSeconds(Cell cell) {
        try {
            refuse(cell);
            return multiplyAdds(cell, traces.open(cell)) / MULTIPLY_ADDS_PER_SECOND;
        } catch (SkippedException | BadInputException | IOException doesNotRun) {
            return 0;
        }
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
        RoutingTrace trace = traces.open(cell);
        counts.requireSameShape(trace.shape());
        refuseTooMuchWork(cell, trace);
        HostSource rows = source(cell.seed().orElse(1));
        EngineRun.Result result = cell.isPool() ? runPool(cell, trace, rows, row) : runResident(cell, trace, rows, row);
        row.put("output_sha256", result.outputSha256());
        putTimes(row, result);
    }

    private void refuse(Cell cell) {
        if (model.allExpertBytes() > MOST_SOURCE_BYTES) {
            throw new BadInputException("model " + model.name() + " has " + model.allExpertBytes()
                    + " bytes of experts, expected at most " + MOST_SOURCE_BYTES + " for real arithmetic in Java");
        }
        CellSettings.require(
                cell.graphMode().orElse(GraphMode.NONE) == GraphMode.NONE,
                "graph_mode",
                cell.setting(Axis.GRAPH_MODE).orElse(""),
                "none: the Java engine has no graphs");
        CellSettings.require(
                cell.isPool() || cell.engine().equals(Axis.RESIDENT),
                "engine",
                cell.engine(),
                "pool or resident: Java has one memory");
        CellSettings.require(
                cell.rest().equals(Axis.NO_REST), "rest", cell.rest(), "none: the Java engine runs the experts alone");
        CellSettings.require(cell.ple().equals(Axis.NO_ROWS), "ple", cell.ple(), "off: rows are brought to a device");
        if (!cell.isPool()) {
            return;
        }
        CellSettings.requireInstalledPool(cell, definition.window(cell));
        CellSettings.require(
                cell.partition().equals(Axis.HOST_VIEW),
                "partition",
                cell.partition(),
                "host-view: Java has one memory");
    }

    private void refuseTooMuchWork(Cell cell, RoutingTrace trace) {
        double work = multiplyAdds(cell, trace);
        if (work > MOST_MULTIPLY_ADDS) {
            throw new BadInputException(String.format(
                    Locale.ROOT,
                    "the trace takes %.1e multiply-adds in model %s, expected at most %.0e for real arithmetic in Java",
                    work,
                    model.name(),
                    MOST_MULTIPLY_ADDS));
        }
    }

    /** Of the forwards up to the end of what is scored, where a replay ends. */
    private double multiplyAdds(Cell cell, RoutingTrace trace) {
        long[] tokens = {0};
        definition.window(cell).score().walk(trace, (cursor, scored) -> tokens[0] += cursor.tokens());
        return 3.0 * tokens[0] * model.layers() * model.topK() * model.hidden() * model.expertWidth();
    }

    /** The experts of a seed; those of the last one are kept, as cells with the same seed follow each other. */
    private HostSource source(long seed) {
        if (source == null || source.seed() != seed) {
            source = new SeededSource(seed, weights.experts(seed, SlabAllocator.DIRECT, layers -> {}));
        }
        return source.rows();
    }

    private EngineRun.Result runResident(Cell cell, RoutingTrace trace, HostSource rows, ResultRow.Builder row) {
        EngineRun.Result result = replay(cell, trace, new ResidentEngine(rows, model.topK()), () -> {});
        row.put("experts", model.experts());
        row.put("forwards", result.forwards());
        row.put("bank_bytes", model.allExpertBytes());
        return result;
    }

    private EngineRun.Result runPool(Cell cell, RoutingTrace trace, HostSource rows, ResultRow.Builder row) {
        PoolConfig config =
                new PoolConfig(model.layers(), model.experts(), model.topK(), cell.rows(), cell.decodeTokens());
        ExpertPool pool = installer.apply(PoolRequest.onHost(config, rows));
        pool.control(cell.controls());
        pool.openGate();
        CallTally tally = new CallTally();
        long[] bytesBefore = {0};
        EngineRun.Result result = replay(cell, trace, new PoolEngine(pool, tally), () -> {
            tally.begin();
            bytesBefore[0] = pool.copiedBytes();
        });
        pool.synchronise();
        pool.check(RowCheck.SAMPLED);
        SimulationResult simulated = counts.simulate(cell, trace);
        long copied = result.forwards() == 0 ? 0 : pool.copiedBytes() - bytesBefore[0];
        requireSame(simulated, tally, copied);
        counts.put(row, cell, simulated);
        row.put("bank_bytes", pool.bank().bytes());
        return result;
    }

    private EngineRun.Result replay(Cell cell, RoutingTrace trace, MoeEngine engine, Runnable scoringBegins) {
        return EngineRun.replay(
                trace,
                definition.window(cell).score(),
                engine,
                weights.activations(),
                model.hidden(),
                cell.seed().orElse(1),
                scoringBegins);
    }

    private void requireSame(SimulationResult simulated, CallTally tally, long copiedBytes) {
        CellCounts.requireSame("forwards", tally.forwards(), simulated.forwards());
        CellCounts.requireSame("hits", tally.hits(), simulated.hits());
        CellCounts.requireSame("promoted", tally.promoted(), simulated.promoted());
        CellCounts.requireSame("staged", tally.staged(), simulated.staged());
        CellCounts.requireSame("copied bytes", copiedBytes, simulated.misses() * model.rowBytes());
        CellCounts.requireSame("partition forwards", tally.partitionForwards(), simulated.partitionForwards());
        CellCounts.requireSame("partition hits", tally.partitionHits(), simulated.partitionHits());
        CellCounts.requireSame("partition misses", tally.partitionMisses(), simulated.partitionMisses());
    }

    private static void putTimes(ResultRow.Builder row, EngineRun.Result result) {
        if (result.decodeTokens() == 0) {
            return;
        }
        row.put("decode_tok_per_s", result.decodeTokens() * NANOS_PER_SECOND / result.decodeNanos());
        row.put("decode_ms_per_token", result.decodeNanos() / NANOS_PER_MILLI / result.decodeTokens());
        Histogram nanos = result.layerNanos();
        row.put("step_p50_us", nanos.getValueAtPercentile(50) / NANOS_PER_MICRO);
        row.put("step_p99_us", nanos.getValueAtPercentile(99) / NANOS_PER_MICRO);
    }

    @Override
    public void close() {
        traces.close();
    }
}
