package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.decodeCounts;

import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.StepMemory;
import org.expertpool.pool.cuda.layout.TokenGrid;

/**
 * The MoE kernels and their scratch memory for calls of up to so many tokens. Calls that share one of these must follow
 * each other on the device.
 */
public final class DeviceMoe implements AutoCloseable {
    private static final int ACTIVATION_BYTES = 2;
    private static final int ALIGNMENT = 256;
    private static final int LEAST_BLOCK_LANES = 8;
    private static final int MOST_BLOCK_LANES = 32;

    private final CudaContext context;
    private final MoeShape shape;
    private final int maxTokens;
    private final CudaStream stream;
    private final DeviceBuffer memory;
    private final boolean oneToken; // its kernel fits
    final TokenGrid tokenGrid;
    final TokenGrid poolGrid; // beside a planner; needs no more memory
    final long inner;
    final long laneOut;
    final long counts;
    final long sortedLanes;
    final long blockExperts;
    final long paddedLanes;

    /** @param stream that all calls go to: two at a time would write over each other's scratch memory */
    public DeviceMoe(CudaContext context, MoeShape shape, int maxTokens, CudaStream stream) {
        this.context = context;
        this.shape = shape;
        this.maxTokens = maxTokens;
        this.stream = stream;
        int hidden = shape.row().hidden();
        int width = shape.row().expertWidth();
        tokenGrid = new TokenGrid(shape.topK(), hidden, width, context.device().multiprocessors());
        oneToken = tokenGrid.fits(context.device().sharedBytes());
        poolGrid = new TokenGrid(
                shape.topK(),
                hidden,
                width,
                PoolTokenLaunch.blocks(context.device().multiprocessors()));
        long lanes = shape.lanes(maxTokens);
        long blocks = maxBlocks(lanes, shape.experts(), LEAST_BLOCK_LANES);
        long placed = Math.max(
                blocks * LEAST_BLOCK_LANES, maxBlocks(lanes, shape.experts(), MOST_BLOCK_LANES) * MOST_BLOCK_LANES);
        long[] sizes = {
            lanes * width * ACTIVATION_BYTES,
            lanes * hidden * ACTIVATION_BYTES,
            Integer.BYTES * Math.max(decodeCounts(hidden) + (oneToken ? tokenGrid.exchangeWords() : 0), blocks),
            Integer.BYTES * placed,
            Integer.BYTES * blocks,
            Integer.BYTES
        };
        long[] at = new long[sizes.length + 1];
        for (int i = 0; i < sizes.length; i++) {
            at[i + 1] = at[i] + (sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
        memory = new DeviceBuffer(context, at[sizes.length]);
        inner = memory.address() + at[0];
        laneOut = memory.address() + at[1];
        counts = memory.address() + at[2];
        sortedLanes = memory.address() + at[3];
        blockExperts = memory.address() + at[4];
        paddedLanes = memory.address() + at[5];
        // Counters; and lane outputs, which the sum reads also where no lane was ever computed.
        memory.fill(at[1], at[3] - at[1], (byte) 0, stream);
    }

    public MoeShape shape() {
        return shape;
    }

    /** Bytes of the scratch memory. */
    public long bytes() {
        return memory.bytes();
    }

    /** Prepares a call with fixed addresses, to be enqueued any number of times. */
    public MoeLaunch bind(MoeCall call) {
        boolean onHost = call.bank().onHost();
        MoeWay way = call.tokens() == 1 && !onHost && oneToken
                ? MoeWay.ONE_TOKEN
                : MoeWay.of(call.tokens(), shape.lanes(call.tokens()), onHost);
        if (call.host() != null && !way.decode()) {
            throw new IllegalArgumentException("tokens is " + call.tokens() + ", too many to read missed rows");
        }
        return new MoeLaunch(context, this, admitted(call), way);
    }

    /** Whether calls of so many tokens may plan their step themselves. */
    boolean plans(int tokens) {
        return tokens == 1 && poolGrid.fits(context.device().sharedBytes());
    }

    /** As {@link #bind}, of a call that may be missed rows and plans its step; parameters as of PoolTokenLaunch. */
    PoolTokenLaunch bindPlanned(MoeCall call, StepMemory step, int layer, long ids) {
        return new PoolTokenLaunch(context, this, admitted(call), step, layer, ids);
    }

    /** As {@link #bind}, over aligned lanes whatever the number of tokens, so that it has parts. */
    public MoeLaunch bindAligned(MoeCall call) {
        return new MoeLaunch(
                context,
                this,
                admitted(call),
                MoeWay.aligned(call.tokens(), call.bank().onHost()));
    }

    /** Whether calls of so many tokens may read missed rows on the host ({@link MoeCall#withMissed}). */
    boolean readsMissed(int tokens) {
        return MoeWay.isDecode(tokens, shape.lanes(tokens));
    }

    /** Refuses a stream other than that of all calls. */
    void requireStream(CudaStream other) {
        if (other != stream) {
            throw new IllegalStateException("MoE scratch memory on a second stream, expected one memory a stream");
        }
    }

    private MoeCall admitted(MoeCall call) {
        if (call.tokens() > maxTokens) {
            throw new IllegalArgumentException("tokens is " + call.tokens() + ", expected at most " + maxTokens);
        }
        return call;
    }

    /** Most blocks that so many lanes can need (pool/moe.h). */
    static long maxBlocks(long lanes, long experts, long blockLanes) {
        long padded = lanes + experts * (blockLanes - 1);
        long most = lanes < experts ? Math.min(lanes * blockLanes, padded) : padded;
        return (most + blockLanes - 1) / blockLanes;
    }

    @Override
    public void close() {
        memory.close();
    }
}
