package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.ALIGN_THREADS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.LANE_BLOCKS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MOE_PARAMS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.SUM_THREADS;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.KernelArgument;
import org.expertpool.pool.cuda.layout.MoeBlock;
import org.expertpool.pool.cuda.layout.TokenGrid;

/** One layer call with its arguments prepared. The only class that knows the MoE kernels' names, grids and order. */
public final class MoeLaunch implements AutoCloseable {
    private static final int WARP = 32;
    private static final int VECTOR_CHANNELS = 8;

    /** One kernel and its launch shape. */
    private record Step(Kernel kernel, int blocks, int threads, int sharedBytes) {
        void enqueue(CudaStream stream) {
            kernel.launch(blocks, threads, sharedBytes, stream);
        }

        void enqueueTogether(CudaStream stream) {
            kernel.launchTogether(blocks, threads, sharedBytes, stream);
        }

        /** Enqueues a share of the whole's blocks. */
        void enqueue(int share, int whole, CudaStream stream) {
            kernel.launch(blocks / whole * share, threads, sharedBytes, stream);
        }
    }

    private final CudaContext context;
    private final DeviceMoe moe;
    private final KernelArgument argument;
    private final int blockLanes;
    private final int maxBlocks;
    private final List<Step> align = new ArrayList<>();
    private final List<Step> gemms = new ArrayList<>();
    private final List<Step> sum = new ArrayList<>(); // empty where the GEMMs' kernel does it
    private final Step together; // the only one where it is not null; its blocks wait for each other

    MoeLaunch(CudaContext context, DeviceMoe moe, MoeCall call, MoeWay way) {
        this.context = context;
        this.moe = moe;
        argument = new KernelArgument(context, MOE_PARAMS);
        int laneCount = moe.shape().lanes(call.tokens());
        blockLanes = way.blockLanes();
        maxBlocks = Math.toIntExact(DeviceMoe.maxBlocks(laneCount, moe.shape().experts(), way.blockLanes()));
        describe(argument.struct(), moe, call, way, maxBlocks);
        String suffix = moe.shape().kernelSuffix();
        int hidden = moe.shape().row().hidden();
        int width = moe.shape().row().expertWidth();
        MoeBlock block = way.block();
        if (way.kernels() == MoeWay.Kernels.TOKEN) {
            TokenGrid grid = moe.tokenGrid;
            together = step("smxx_moe_token" + suffix, grid.blocks(), block.threads(), grid.sharedBytes());
            return;
        }
        together = null;
        int parts = block.parts(hidden, width);
        int sharedBytes = way.sharedBytes(call.missRows() != 0 || call.bank().onHost());
        if (way.decode()) {
            gemms.add(step("smxx_moe_decode" + suffix, laneCount * parts, block.threads(), sharedBytes));
            return;
        }
        align.add(step("smxx_moe_align", ceil(moe.shape().experts(), ALIGN_THREADS / WARP), ALIGN_THREADS, 0));
        gemms.add(step(way.alignedKernel() + suffix, maxBlocks * parts, block.threads(), sharedBytes));
        sum.add(step(
                "smxx_moe_sum" + suffix,
                ceil(call.tokens() * (hidden / VECTOR_CHANNELS), SUM_THREADS),
                SUM_THREADS,
                0));
    }

    /** Enqueues the whole call. */
    public void enqueue(CudaStream stream) {
        if (together != null) {
            moe.requireStream(stream);
            together.enqueueTogether(stream);
            return;
        }
        enqueue(align, stream);
        enqueue(gemms, stream);
        enqueue(sum, stream);
    }

    /**
     * Enqueues the alignment of a call that {@link DeviceMoe#bindAligned} made. One of these, the GEMMs of several calls
     * whose expert rows are -1 for each other's experts, and one sum make a whole.
     */
    public void enqueueAlign(CudaStream stream) {
        enqueue(parts(align), stream);
    }

    /** Enqueues the GEMMs over the lanes as they were last aligned. */
    public void enqueueGemms(CudaStream stream) {
        enqueue(parts(gemms), stream);
    }

    /** As {@link #enqueueGemms(CudaStream)}, of so many blocks of aligned lanes from one on. */
    public void enqueueGemms(int firstBlock, int blocks, CudaStream stream) {
        moe.requireStream(stream);
        argument.struct().putInt(MOE_PARAMS.offset("firstBlock"), firstBlock);
        parts(gemms).forEach(step -> step.enqueue(blocks, maxBlocks, stream));
        argument.struct().putInt(MOE_PARAMS.offset("firstBlock"), 0);
    }

    /** Lanes of an aligned block. */
    public int blockLanes() {
        return blockLanes;
    }

    /** Enqueues the sum over the slots of all lanes that have an expert. */
    public void enqueueSum(CudaStream stream) {
        enqueue(parts(sum), stream);
    }

    @Override
    public void close() {
        argument.close();
    }

    private void enqueue(List<Step> steps, CudaStream stream) {
        moe.requireStream(stream);
        steps.forEach(step -> step.enqueue(stream));
    }

    private List<Step> parts(List<Step> steps) {
        if (align.isEmpty()) {
            throw new IllegalStateException("a decode call has no parts; expected one over aligned lanes");
        }
        return steps;
    }

    private Step step(String name, int blocks, int threads, int sharedBytes) {
        Kernel kernel = context.kernel(name, argument);
        if (sharedBytes > 0) {
            kernel.allowSharedBytes(sharedBytes);
        }
        return new Step(kernel, blocks, threads, sharedBytes);
    }

    /** Fills a MoeParams struct. */
    static void describe(ByteBuffer params, DeviceMoe moe, MoeCall call, MoeWay way, int maxBlocks) {
        params.putLong(MOE_PARAMS.offset("activations"), call.activations());
        params.putLong(MOE_PARAMS.offset("ids"), call.ids());
        params.putLong(MOE_PARAMS.offset("rows"), call.rows());
        RowView host = call.bank().onHost() ? call.bank() : call.host(); // read where it is to be kept: not kept
        if (host != null) {
            params.putLong(MOE_PARAMS.offset("missRows"), call.bank().onHost() ? call.rows() : call.missRows());
            host.describe(params, MOE_PARAMS.offset("host"), host.layout().w13Offset());
        }
        params.putLong(MOE_PARAMS.offset("expertRows"), call.expertRows());
        params.putLong(MOE_PARAMS.offset("weights"), call.weights());
        params.putLong(MOE_PARAMS.offset("alphas"), call.alphas());
        call.bank().describe(params, MOE_PARAMS.offset("w13"));
        params.putLong(MOE_PARAMS.offset("inner"), moe.inner);
        params.putLong(MOE_PARAMS.offset("laneOut"), moe.laneOut);
        params.putLong(MOE_PARAMS.offset("out"), call.out());
        params.putLong(MOE_PARAMS.offset("counts"), moe.counts);
        int blocks = MOE_PARAMS.offset("blocks");
        params.putLong(blocks + LANE_BLOCKS.offset("sortedLanes"), moe.sortedLanes);
        params.putLong(blocks + LANE_BLOCKS.offset("blockExperts"), moe.blockExperts);
        params.putLong(blocks + LANE_BLOCKS.offset("paddedLanes"), moe.paddedLanes);
        params.putInt(blocks + LANE_BLOCKS.offset("blockLanes"), way.blockLanes());
        params.putInt(blocks + LANE_BLOCKS.offset("maxBlocks"), maxBlocks);
        params.putInt(MOE_PARAMS.offset("tokens"), call.tokens());
        params.putInt(MOE_PARAMS.offset("topK"), moe.shape().topK());
        params.putInt(MOE_PARAMS.offset("hidden"), moe.shape().row().hidden());
        params.putInt(MOE_PARAMS.offset("width"), moe.shape().row().expertWidth());
        params.putInt(MOE_PARAMS.offset("experts"), moe.shape().experts());
        params.putInt(MOE_PARAMS.offset("blockLanes"), way.blockLanes());
        params.putInt(MOE_PARAMS.offset("hostLanes"), way.hostLanes());
    }

    private static int ceil(int value, int unit) {
        return (value + unit - 1) / unit;
    }
}
