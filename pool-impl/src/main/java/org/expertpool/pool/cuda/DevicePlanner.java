package org.expertpool.pool.cuda;

import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_EXPERTS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_LANES;
import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.Lanes;
import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.StepPlan;

/**
 * The planner kernel behind the planner's interface: tables on the device, a step waited for before it returns. For
 * conformance; the engine's planner never comes back to the host. Closed by its own close or by the context's.
 */
public final class DevicePlanner implements Planner {
    /** How a step reaches the device. */
    public enum Launch {
        EAGER,
        /** A graph for each layer, captured at the full width and filled up with padding. */
        GRAPH
    }

    private static final int WEIGHTS_AT = MAX_LANES * Integer.BYTES;
    private static final int INPUT_BYTES = 2 * WEIGHTS_AT;

    private final CudaContext context;
    private final PoolConfig config;
    private final Launch launch;
    private final DeviceTables tables;
    private final CudaStream stream;
    private final DeviceBuffer stepMemory; // ids, weights, StepOutput, step map
    private final PinnedSlab stepHost; // the same on the host
    private final StepLaunch kernel;
    private final CudaGraph[] graphs; // [L] captured at their first use
    private final StepPlan plan;
    private PoolControls controls = PoolControls.DEFAULTS;

    public DevicePlanner(CudaContext context, PoolConfig config, Launch launch) {
        requireFits(config);
        this.context = context;
        this.config = config;
        this.launch = launch;
        try (CudaContext.Attempt all = context.attempt()) {
            stream = new CudaStream(context);
            tables = new DeviceTables(context, config, stream);
            long bytes = INPUT_BYTES + STEP_OUTPUT.bytes() + (long) Integer.BYTES * config.experts();
            stepMemory = new DeviceBuffer(context, bytes);
            stepHost = new PinnedSlab(context, bytes);
            long output = stepMemory.address() + INPUT_BYTES;
            kernel = new StepLaunch(context, new StepMemory(tables, output, output + STEP_OUTPUT.bytes()));
            graphs = new CudaGraph[config.layers()];
            plan = new StepPlan(config);
            clearStepMemory();
            tables.upload(new PoolTables(config));
            tables.controls(controls);
            all.succeeded();
        }
    }

    @Override
    public PoolConfig config() {
        return config;
    }

    @Override
    public PoolTables tables() {
        return tables.download();
    }

    @Override
    public PoolControls controls() {
        return controls;
    }

    @Override
    public void controls(PoolControls next) {
        tables.controls(next);
        controls = next;
    }

    @Override
    public void clearError() {
        tables.clearError();
    }

    @Override
    public StepPlan step(int layer, int[] ids, float[] weights, int lanes) {
        if (layer < 0 || layer >= config.layers()) {
            throw new IllegalArgumentException("layer is " + layer + ", expected 0 to " + (config.layers() - 1));
        }
        if (lanes < 0 || lanes > config.stagingRows()) {
            throw new IllegalArgumentException("lanes is " + lanes + ", expected 0 to S = " + config.stagingRows()
                    + "; wider calls are partitioned");
        }
        ByteBuffer host = stepHost.buffer();
        for (int lane = 0; lane < MAX_LANES; lane++) {
            boolean used = lane < lanes;
            host.putInt(lane * Integer.BYTES, used ? ids[lane] : Lanes.PADDING);
            host.putFloat(WEIGHTS_AT + lane * Float.BYTES, used ? weights[lane] : Float.NaN);
        }
        if (launch == Launch.EAGER) {
            enqueue(layer, lanes);
        } else {
            if (graphs[layer] == null) {
                graphs[layer] = CudaGraph.capture(context, stream, () -> enqueue(layer, config.stagingRows()));
            }
            graphs[layer].launch(stream);
        }
        stream.synchronise("plan layer " + layer + ", " + lanes + " lanes");
        readPlan(layer, lanes);
        return plan;
    }

    @Override
    public int swap(int layer, int resident, int other) {
        if (controls.gateOpen()) {
            throw new IllegalStateException("swap of experts " + resident + " and " + other + " of layer " + layer
                    + ": the gate is open, expected closed");
        }
        PoolTables now = tables.download();
        int row = now.swap(layer, resident, other);
        tables.upload(now);
        return row;
    }

    @Override
    public void close() {
        for (CudaGraph graph : graphs) {
            if (graph != null) {
                graph.close();
            }
        }
        kernel.close();
        stepHost.close();
        stepMemory.close();
        tables.close();
        stream.close();
    }

    /** What a step leaves unwritten (copies past its own) is downloaded with the rest, and must be something. */
    private void clearStepMemory() {
        stepHost.buffer().put(0, new byte[Math.toIntExact(stepMemory.bytes())]);
        stepMemory.upload(0, stepHost, 0, stepMemory.bytes(), stream);
    }

    private void enqueue(int layer, int lanes) {
        stepMemory.upload(0, stepHost, 0, INPUT_BYTES, stream);
        kernel.enqueue(layer, lanes, stepMemory.address(), stepMemory.address() + WEIGHTS_AT, stream);
        stepMemory.download(INPUT_BYTES, stepHost, INPUT_BYTES, stepMemory.bytes() - INPUT_BYTES, stream);
    }

    private void readPlan(int layer, int lanes) {
        ByteBuffer output = stepHost.slice(INPUT_BYTES, STEP_OUTPUT.bytes());
        int promoted = output.getInt(STEP_OUTPUT.offset("promoted"));
        int staged = output.getInt(STEP_OUTPUT.offset("staged"));
        if (promoted < 0 || staged < 0 || promoted + staged > lanes) {
            throw new IllegalStateException("plan of layer " + layer + ": " + promoted + " promotions and " + staged
                    + " staged copies for " + lanes + " lanes");
        }
        plan.read(
                layer,
                lanes,
                promoted,
                staged,
                ints(output, STEP_OUTPUT.offset("copies")),
                ints(output, STEP_OUTPUT.offset("routes")),
                ints(output, STEP_OUTPUT.offset("safeIds")),
                stepHost.slice(INPUT_BYTES + STEP_OUTPUT.bytes(), Integer.BYTES * config.experts())
                        .asIntBuffer());
    }

    private static IntBuffer ints(ByteBuffer from, int atByte) {
        return from.slice(atByte, from.capacity() - atByte).order(from.order()).asIntBuffer();
    }

    /** Refuses a configuration that the planner kernel cannot plan. */
    public static void requireFits(PoolConfig config) {
        if (!config.enabled()) {
            throw new BadInputException(
                    "rows is 0: the pool is off and plans nothing; expected at least topK = " + config.topK());
        }
        if (config.experts() > MAX_EXPERTS) {
            throw new BadInputException(
                    "experts is " + config.experts() + ", expected at most " + MAX_EXPERTS + " with backend cuda");
        }
        if (config.stagingRows() > MAX_LANES) {
            throw new BadInputException(
                    "topK is " + config.topK() + ", expected at most " + MAX_LANES + " with backend cuda");
        }
    }
}
