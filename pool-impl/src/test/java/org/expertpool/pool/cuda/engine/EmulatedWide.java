package org.expertpool.pool.cuda.engine;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.DeviceTables;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.route.StreamPlan;

/** What the child JVM of {@link WidePathTest} runs: wide calls over a pool with any residents, beside the Java engine. */
final class EmulatedWide {
    private static final int LAYERS = 2;
    private static final int TOKENS = 9;
    private static final MoeShape SHAPE = new MoeShape(13, 2, new ExpertRowLayout(64, 64));
    private static final SyntheticExperts EXPERTS = new SyntheticExperts(7, LAYERS, SHAPE.experts(), SHAPE.row());
    private static final PoolConfig CONFIG = new PoolConfig(LAYERS, SHAPE.experts(), SHAPE.topK(), 5, 1);

    private final CudaContext context;
    private final CudaStream stream;
    private final PoolMemory pool;
    private final DeviceMoe moe;
    private final ResidentEngine expected;
    private final Random random = new Random(4);
    private final DeviceBuffer inputs; // activations, ids, weights, out
    private final PinnedSlab host; // the same on the host
    private final WideCall call;
    private short[] activations;
    private int[] ids;
    private float[] weights;

    private EmulatedWide(CudaContext context) {
        this.context = context;
        stream = new CudaStream(context);
        PinnedSource source = PinnedSource.load(context, memory -> EXPERTS.hostSource(memory, layer -> {}));
        DeviceBank bank = new DeviceBank(context, SHAPE.row(), CONFIG.bankRows());
        pool = new PoolMemory(
                source, bank, new AlphaTable(context, source, stream), new DeviceTables(context, CONFIG, stream));
        pool.tables().controls(PoolControls.DEFAULTS);
        moe = new DeviceMoe(context, SHAPE, TOKENS, stream);
        expected = new ResidentEngine(source, SHAPE.topK());
        long outBytes = 2L * TOKENS * SHAPE.row().hidden();
        long lanesBytes = 4L * SHAPE.lanes(TOKENS);
        inputs = new DeviceBuffer(context, 2 * outBytes + 2 * lanesBytes);
        host = new PinnedSlab(context, inputs.bytes());
        long ids = inputs.address() + outBytes;
        call = new WideCall(TOKENS, inputs.address(), ids, ids + lanesBytes, ids + 2 * lanesBytes);
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            new EmulatedWide(context).run();
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private void run() {
        try (DevicePartition partition = partition(1);
                HostViewPath path = new HostViewPath(pool, moe, partition, layer -> call)) {
            compare("host view", layer -> path.enqueue(layer, stream));
            CudaGraph[] graphs = IntStream.range(0, LAYERS)
                    .mapToObj(layer -> CudaGraph.capture(context, stream, () -> path.enqueue(layer, stream)))
                    .toArray(CudaGraph[]::new);
            compare("host view from a graph", layer -> graphs[layer].launch(stream));
        }
        for (StreamPlan.Shape shape : new StreamPlan.Shape[] {
            StreamPlan.Shape.DEFAULT, new StreamPlan.Shape(5, 2, 1), new StreamPlan.Shape(1, 1, 1)
        }) {
            streamed(shape, path -> compare("streamed, " + shape, layer -> path.enqueue(layer, stream)));
        }
        streamed(StreamPlan.Shape.DEFAULT, this::badLanes);
        streamed(StreamPlan.Shape.DEFAULT, path -> {
            try {
                CudaGraph.capture(context, stream, () -> path.enqueue(0, stream));
                throw new AssertionError("streaming was captured");
            } catch (BadInputException refused) {
                System.out.println(refused.getMessage());
            }
        });
    }

    private DevicePartition partition(int ringRows) {
        return new DevicePartition(context, SHAPE, TOKENS, ringRows, pool.tables()::describe);
    }

    private void streamed(StreamPlan.Shape shape, Consumer<StreamedPath> use) {
        try (DevicePartition partition = partition(shape.ringRows());
                StreamedPath path = new StreamedPath(context, pool, moe, partition, shape, layer -> call)) {
            use.accept(path);
        }
    }

    /** Six calls, layer by layer, with none, some and all but one of the touched experts resident. */
    private void compare(String name, Consumer<Integer> enqueue) {
        for (int round = 0; round < 6; round++) {
            int layer = round % LAYERS;
            place();
            draw(round / 2 == 0 ? 0 : round / 2 == 1 ? 3 : SHAPE.experts(), layer, false);
            enqueue.accept(layer);
            require(Arrays.equals(output(), expected.forward(layer, activations, ids, weights)), name);
            require(pool.tables().download().error() == 0, "error of " + name);
        }
        System.out.println(name + ": 6 calls equal");
    }

    private void badLanes(StreamedPath path) {
        place();
        draw(SHAPE.experts(), 1, true);
        path.enqueue(1, stream);
        require(Arrays.equals(output(), expected.forward(1, activations, ids, weights)), "bad lanes");
        require(pool.tables().download().error() == 1, "no error");
        System.out.println("bad lanes: error set, outputs equal");
        pool.tables().clearError();
    }

    /** Any n experts of each layer resident, in any of its rows; all other rows hold garbage. */
    private void place() {
        PoolTables tables = new PoolTables(CONFIG);
        for (int swaps = 0; swaps < 20; swaps++) {
            int layer = random.nextInt(LAYERS);
            int[] residents = experts(tables, layer, true);
            int[] others = experts(tables, layer, false);
            tables.swap(layer, residents[random.nextInt(residents.length)], others[random.nextInt(others.length)]);
        }
        pool.tables().upload(tables);
        pool.bank().fill((byte) 0xff, stream);
        for (int key = 0; key < CONFIG.keys(); key++) {
            if (tables.hotRow(key) >= 0) {
                int layer = key / SHAPE.experts();
                pool.bank().copyIn(tables.hotRow(key), pool.source(), layer, key % SHAPE.experts(), 1, stream);
            }
        }
    }

    private static int[] experts(PoolTables tables, int layer, boolean resident) {
        return IntStream.range(0, SHAPE.experts())
                .filter(expert -> tables.hotRow(CONFIG.key(layer, expert)) >= 0 == resident)
                .toArray();
    }

    /** Draws a call with the residents and so many others, and uploads it. */
    private void draw(int others, int layer, boolean bad) {
        PoolTables tables = pool.tables().download();
        int[] cold = experts(tables, layer, false);
        int[] from = IntStream.concat(
                        Arrays.stream(experts(tables, layer, true)),
                        Arrays.stream(cold).limit(others))
                .toArray();
        activations = new short[TOKENS * SHAPE.row().hidden()];
        for (int i = 0; i < activations.length; i++) {
            activations[i] = Bf16.fromFloat((float) random.nextGaussian());
        }
        ids = random.ints(SHAPE.lanes(TOKENS), 0, from.length).map(i -> from[i]).toArray();
        weights = new float[ids.length];
        for (int lane = 0; lane < ids.length; lane++) {
            weights[lane] = random.nextFloat();
        }
        ids[0] = -1;
        weights[0] = Float.NaN;
        if (bad) {
            weights[1] = Float.POSITIVE_INFINITY;
            ids[3] = SHAPE.experts();
        }
        ByteBuffer at = host.buffer().clear();
        at.asShortBuffer().put(activations);
        at.position(2 * activations.length)
                .slice()
                .order(at.order())
                .asIntBuffer()
                .put(ids);
        at.position(2 * activations.length + 4 * ids.length)
                .slice()
                .order(at.order())
                .asFloatBuffer()
                .put(weights);
        inputs.upload(0, host, 0, inputs.bytes(), stream);
    }

    private short[] output() {
        long bytes = 2L * TOKENS * SHAPE.row().hidden();
        inputs.download(inputs.bytes() - bytes, host, inputs.bytes() - bytes, bytes, stream);
        stream.synchronise("run a wide call");
        short[] out = new short[TOKENS * SHAPE.row().hidden()];
        host.slice((int) (inputs.bytes() - bytes), (int) bytes).asShortBuffer().get(out);
        return out;
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " differ");
        }
    }
}
