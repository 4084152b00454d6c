package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.LayerRest;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.model.ModelGeometry;

/**
 * Cells on a device with real kernels: the routed MoE of every layer, routing from the trace in honest order unless it is
 * asked for ahead, a hash of every forward's outputs. Nothing stands in for the rest of a model, unless asked. Counts
 * come from the device's own plans and must equal the simulation's; times are the device's.
 */
final class CudaBackend implements CellBackend {
    private static final double LOADED_BYTES_PER_SECOND = 2e10;
    private static final int UNIT_BYTES = 16;
    private static final String CAPACITY_PROFILE = "h200"; // what of a limit can be used, whatever the card

    private final Definition definition;
    private final ModelWeights weights;
    private final ModelGeometry model;
    private final TraceLibrary traces;
    private final CellCounts counts;
    private final DeviceEngines engines;
    private final DeviceSession session;
    private final EmbeddingRows embeddings;
    private final DecodeStretches stretches = new DecodeStretches();

    CudaBackend(Definition definition, TraceLibrary traces, HostRows rows) {
        this.definition = definition;
        weights = ModelWeights.of(definition.model(), definition.activations(), traces.files());
        model = weights.geometry();
        this.traces = traces;
        counts = new CellCounts(definition, model);
        engines = new DeviceEngines(definition, counts);
        session = new DeviceSession(weights, rows);
        embeddings = new EmbeddingRows(model.layers());
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
        return session.deviceName();
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        long seeds = cells.stream().map(Cell::seed).distinct().count();
        return (seeds + cells.size()) * model.allExpertBytes() / LOADED_BYTES_PER_SECOND;
    }

    @Override
    public String estimated() {
        return ", to load rows alone";
    }

    @Override
    public Map<String, String> inputs() {
        Map<String, String> inputs = new TreeMap<>(traces.sources());
        inputs.put("weights", weights.source());
        return inputs;
    }

    @Override
    public ObjectNode machine() {
        return session.speeds();
    }

    @Override
    public void measure(Cell cell, int repetition, ResultRow.Builder row) throws IOException {
        refuse(cell);
        RoutingTrace trace = traces.open(cell);
        counts.requireSameShape(trace.shape());
        session.run(context -> run(cell, trace, context, row));
    }

    private void refuse(Cell cell) {
        GraphMode mode = cell.graphMode().orElse(GraphMode.FULL_DECODE);
        CellSettings.require(
                mode != GraphMode.PIECEWISE || !rest(cell).isNothing(),
                "graph_mode",
                mode.word(),
                "another without rest = \"dense\": a graph around nothing is none");
        if (reading(cell) == RouteReplay.Reading.AHEAD) {
            refuseAhead(cell);
        }
        CellSettings.require(cell.device().isEmpty(), "device", cell.device().orElse(""), "none: it is this machine's");
        CellSettings.require(
                cell.contextTokens().isEmpty() || cell.rest().equals(Axis.FULL),
                "context",
                cell.contextTokens().orElse(0),
                "none without rest = \"full\", which stands in for a KV cache");
        CellSettings.require(
                cell.contextTokens().isPresent() || !cell.rest().equals(Axis.FULL),
                "rest",
                cell.rest(),
                "axes.context beside it: the tokens of KV cache that decode reads");
        engines.refuse(cell);
    }

    private static void refuseAhead(Cell cell) {
        String beside = " beside rest = \"" + Axis.ROUTED_AHEAD + "\"";
        CellSettings.require(
                List.of(Axis.RESIDENT, Axis.UVA, Axis.POOL).contains(cell.engine()),
                "engine",
                cell.engine(),
                "resident, uva or pool" + beside + ": the others read routing between the layers");
        CellSettings.require(cell.ple().equals(Axis.NO_ROWS), "ple", cell.ple(), "off" + beside);
        int streams = cell.streams().orElse(1);
        CellSettings.require(
                !cell.isPool() || streams <= cell.decodeTokens(),
                "streams",
                streams,
                "at most decode_tokens, " + cell.decodeTokens() + "," + beside + ": wider calls are partitioned");
    }

    private void run(Cell cell, RoutingTrace trace, CudaContext context, ResultRow.Builder row) {
        row.put("device", session.deviceName());
        DeviceModel experts = session.experts(cell.seed().orElse(1));
        try (DeviceLimit limit = new DeviceLimit(definition.memory(), cell, context, besideBytes(cell))) {
            limit.admit(budgetBytes -> engines.bankBytes(cell, experts, budgetBytes));
            try {
                run(cell, trace, experts, limit, row);
            } catch (CudaException failure) {
                throw limit.meaning(failure);
            }
            row.put("note", note(cell) + limit.note());
        }
    }

    private void run(Cell cell, RoutingTrace trace, DeviceModel experts, DeviceLimit limit, ResultRow.Builder row) {
        try (DeviceEngine engine = engines.install(cell, trace, experts, limit.rowBudgetBytes());
                DeviceReplay replay = replay(cell, trace, experts, engine)) {
            engine.begin();
            DeviceReplay.Result result = replay.run(limit::grow);
            row.put("free_bytes_min", experts.context().freeBytes());
            engine.finish(result, row);
            if (cell.isPool() && cell.memoryBytes().isPresent()) {
                new MemoryColumns(model, cell.memoryBytes().getAsLong(), DeviceProfile.load(CAPACITY_PROFILE))
                        .put(row, cell);
            }
            row.put("output_sha256", result.outputs().sha256());
            DeviceTimes.put(result, model.layers(), row);
            stretches.keep(cell, result);
        }
    }

    private String note(Cell cell) {
        LayerRest rest = rest(cell);
        return switch (cell.rest()) {
            case Axis.DENSE -> "experts, and " + rest.denseBytes() + " dense bytes read a layer";
            case Axis.FULL ->
                "experts, " + rest.denseBytes() + " dense bytes, " + rest.kvBytesPerToken()
                        + " bytes a token of context and a router a layer";
            case Axis.ROUTED_AHEAD -> "experts alone, routed ahead";
            default -> "experts alone";
        };
    }

    private LayerRest rest(Cell cell) {
        long dense = model.denseBytesPerLayer() / UNIT_BYTES * UNIT_BYTES;
        return switch (cell.rest()) {
            case Axis.DENSE -> LayerRest.dense(dense);
            case Axis.FULL -> new LayerRest(dense, kvBytesPerToken(), mostContext(cell), true);
            default -> LayerRest.NOTHING;
        };
    }

    private static RouteReplay.Reading reading(Cell cell) {
        return cell.rest().equals(Axis.ROUTED_AHEAD) ? RouteReplay.Reading.AHEAD : RouteReplay.Reading.ALL;
    }

    /** Device memory of what stands in for the rest of all layers. */
    private long besideBytes(Cell cell) {
        LayerRest rest = rest(cell);
        return (rest.denseBytes() + rest.kvBytesPerToken() * rest.mostContextTokens()) * model.layers();
    }

    /** A layer's even share, up to a whole number of 16-byte units. */
    private long kvBytesPerToken() {
        long unit = (long) UNIT_BYTES * model.layers();
        return (model.kvBytesPerToken() + unit - 1) / unit * UNIT_BYTES;
    }

    /** Room for the context of decode and for the prompt. */
    private static long mostContext(Cell cell) {
        return Math.max(cell.contextTokens().orElse(0), cell.inputTokens().orElse(0));
    }

    private DeviceReplay replay(Cell cell, RoutingTrace trace, DeviceModel experts, DeviceEngine engine) {
        GraphMode mode = cell.graphMode().orElse(GraphMode.FULL_DECODE);
        DecodeGraph decode = mode == GraphMode.FULL_DECODE ? DecodeGraph.FULL_DECODE : whole(mode);
        DecodeGraph prefill = mode == GraphMode.FULL_DECODE ? DecodeGraph.NONE : whole(mode);
        return new DeviceReplay(
                trace,
                definition.window(cell).score(),
                experts,
                kind -> {
                    boolean narrow = kind.tokens() * model.topK() <= engine.narrowLanes();
                    LayerEngine made = narrow ? engine.narrow() : engine.wide();
                    return new DeviceReplay.Way(
                            kind.prefill() ? made : embeddings.beside(made, experts, cell.ple()),
                            narrow,
                            kind.prefill() ? RouteReplay.Reading.ALL : reading(cell),
                            kind.prefill() ? prefill : decode,
                            rest(cell),
                            cell.contextTokens().orElse(0));
                },
                cell.seed().orElse(1));
    }

    /** A mode that treats decode and prefill alike. */
    private static DecodeGraph whole(GraphMode mode) {
        return switch (mode) {
            case NONE -> DecodeGraph.NONE;
            case PIECEWISE -> DecodeGraph.PIECEWISE;
            case FULL_DECODE, FULL -> DecodeGraph.FULL_DECODE;
        };
    }

    /** Only of cells measured by this process: the file of results holds no times of single forwards. */
    @Override
    public List<Table> details(List<Cell> cells, int stretchForwards) {
        return List.of(stretches.table(cells, stretchForwards));
    }

    @Override
    public void close() {
        traces.close();
        session.close();
        embeddings.close();
    }
}
