package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.RouteLayouts.ROUTE_PARAMS;
import static org.expertpool.pool.cuda.layout.RouteLayouts.ROUTE_STATE;
import static org.expertpool.pool.cuda.layout.RouteLayouts.THREADS;
import static org.expertpool.pool.cuda.layout.RouteLayouts.blocks;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * A tape in device memory, and the kernels that route each layer call from it after reading, and hashing, the output of
 * the call before: the order of a real router, in graphs that replay over the tape. Or, for the experts alone, one kernel
 * a forward that routes all its calls.
 */
public final class RouteReplay implements AutoCloseable {
    /**
     * What the replay has seen so far.
     *
     * @param forwards routed
     * @param selected distinct valid experts over all layer calls; of calls of at most 64 lanes
     * @param promoted copies of the pool's plans; 0 for engines that plan nothing
     * @param staged likewise
     */
    public record Counts(long forwards, long selected, long promoted, long staged) {
        /** Both together. */
        public Counts plus(Counts other) {
            return new Counts(
                    forwards + other.forwards,
                    selected + other.selected,
                    promoted + other.promoted,
                    staged + other.staged);
        }

        /** What came since. */
        public Counts minus(Counts earlier) {
            return new Counts(
                    forwards - earlier.forwards,
                    selected - earlier.selected,
                    promoted - earlier.promoted,
                    staged - earlier.staged);
        }
    }

    private static final int WORD_BYTES = 4;

    private final DeviceModel model;
    private final int hashSlots;
    private final int blocks; // of each kernel
    private final DeviceBuffer ids;
    private final DeviceBuffer weights;
    private final DeviceBuffer state; // RouteState, hashes [slots], scratch [L]
    private final PinnedSlab host;
    private final Map<Integer, Kernel> kernels = new HashMap<>(); // by layer; that of layer L only ends a forward

    /** How much of the output before is read, and hashed, before a layer call is routed. */
    public enum Reading {
        ALL,
        /** What a router reads for one token: enough for the order, and as quick with many tokens as with one. */
        FIRST_TOKEN,
        /**
         * All, but of all calls of a forward at once, before the next forward's calls are all routed: the experts without a
         * router's time between them. Hashes as those of {@link #ALL}.
         */
        AHEAD;

        /** Calls whose routing and outputs must all have room. */
        int calls(int layers) {
            return this == AHEAD ? layers : 1;
        }
    }

    /**
     * @param hashSlots forwards whose hashes are kept, the last ones
     * @param digests by layer, device address of a u64 that is read before its routing as well; 0 for none
     */
    RouteReplay(
            DeviceModel model,
            LayerEngine engine,
            LayerCalls calls,
            CallMemory memory,
            RoutingTape tape,
            int hashSlots,
            Reading reading,
            IntToLongFunction digests) {
        if (tape.layers() != model.layers() || tape.lanes() != memory.lanes()) {
            throw new BadInputException("routing tape: " + tape.layers() + " layers of " + tape.lanes()
                    + " lanes, expected " + model.layers() + " of " + memory.lanes());
        }
        this.model = model;
        this.hashSlots = hashSlots;
        boolean ahead = reading == Reading.AHEAD;
        int outputWords = Math.toIntExact(
                memory.outputBytes() / WORD_BYTES / (reading == Reading.FIRST_TOKEN ? memory.tokens() : 1));
        blocks = ahead ? model.layers() : blocks(outputWords);
        try (CudaContext.Attempt all = model.context().attempt()) {
            ids = DeviceBuffer.holding(
                    model.context(),
                    model.stream(),
                    (long) Integer.BYTES * tape.ids().length,
                    to -> to.asIntBuffer().put(tape.ids()));
            weights = DeviceBuffer.holding(
                    model.context(),
                    model.stream(),
                    (long) Float.BYTES * tape.weights().length,
                    to -> to.asFloatBuffer().put(tape.weights()));
            long bytes = ROUTE_STATE.bytes() + (long) Long.BYTES * (hashSlots + model.layers());
            state = new DeviceBuffer(model.context(), bytes);
            host = new PinnedSlab(model.context(), bytes);
            for (int layer = 0; layer <= model.layers(); layer += ahead ? model.layers() : 1) {
                Kernel kernel = model.context()
                        .kernel(ahead ? "smxx_route_forward" : "smxx_route_replay", ROUTE_PARAMS.bytes());
                kernels.put(layer, kernel);
                describe(kernel.argument(), layer, engine.validates(), memory, tape);
                int read = ahead ? 0 : (layer + model.layers() - 1) % model.layers(); // the first call that is
                kernel.argument()
                        .putLong(ROUTE_PARAMS.offset("plan"), calls.plan(read))
                        .putLong(ROUTE_PARAMS.offset("digest"), layer < model.layers() ? digests.applyAsLong(layer) : 0)
                        .putInt(ROUTE_PARAMS.offset("outputWords"), outputWords);
            }
            reset();
            all.succeeded();
        }
    }

    private void describe(ByteBuffer params, int layer, boolean engineValidates, CallMemory memory, RoutingTape tape) {
        params.putLong(ROUTE_PARAMS.offset("tapeIds"), ids.address());
        params.putLong(ROUTE_PARAMS.offset("tapeWeights"), weights.address());
        params.putLong(ROUTE_PARAMS.offset("state"), state.address());
        params.putLong(ROUTE_PARAMS.offset("hashes"), state.address() + ROUTE_STATE.bytes());
        params.putLong(ROUTE_PARAMS.offset("output"), memory.out(0));
        params.putLong(ROUTE_PARAMS.offset("ids"), memory.ids(0));
        params.putLong(ROUTE_PARAMS.offset("weights"), memory.weights(0));
        params.putInt(ROUTE_PARAMS.offset("layer"), layer);
        params.putInt(ROUTE_PARAMS.offset("layers"), model.layers());
        params.putInt(ROUTE_PARAMS.offset("lanes"), memory.lanes());
        params.putInt(ROUTE_PARAMS.offset("experts"), model.shape().experts());
        params.putInt(ROUTE_PARAMS.offset("tapeForwards"), tape.forwards());
        params.putInt(ROUTE_PARAMS.offset("hashSlots"), hashSlots);
        params.putInt(ROUTE_PARAMS.offset("sanitise"), engineValidates ? 0 : 1);
    }

    /** Back to the tape's first forward, with nothing seen. */
    public void reset() {
        state.fill(0, state.bytes(), (byte) 0, model.stream());
        host.buffer().put(0, new byte[ROUTE_STATE.bytes()]);
    }

    /** Enqueues the routing of a layer call; the call before has been enqueued. Ahead, the first call's is that of all. */
    void enqueue(int layer, CudaStream stream) {
        Kernel kernel = kernels.get(layer);
        if (kernel != null) {
            kernel.launch(blocks, THREADS, stream);
        }
    }

    /** Takes in the output of the last layer call, and waits. */
    public void finish(String doing) {
        enqueue(model.layers(), model.stream());
        state.download(0, host, 0, state.bytes(), model.stream());
        model.stream().synchronise(doing);
    }

    /** Counts as of the last {@link #finish}. */
    public Counts counts() {
        return new Counts(stateAt("forward"), stateAt("selected"), stateAt("promoted"), stateAt("staged"));
    }

    /** Hash of a forward's outputs as of the last {@link #finish}, one of the last {@code hashSlots} forwards. */
    public long hash(long forward) {
        long done = stateAt("forward");
        if (forward < 0 || forward >= done || forward < done - hashSlots) {
            throw new IllegalArgumentException(
                    "hash of forward " + forward + ": " + done + " done, " + hashSlots + " kept");
        }
        return host.buffer().getLong(ROUTE_STATE.bytes() + (int) (forward % hashSlots) * Long.BYTES);
    }

    private long stateAt(String field) {
        return host.buffer().getLong(ROUTE_STATE.offset(field));
    }

    @Override
    public void close() {
        kernels.values().forEach(Kernel::close);
        host.close();
        state.close();
        weights.close();
        ids.close();
    }
}
