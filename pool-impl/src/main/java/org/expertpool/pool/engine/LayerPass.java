package org.expertpool.pool.engine;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.function.IntFunction;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.route.BlockSize;
import org.expertpool.pool.route.LaneBlocks;
import org.expertpool.pool.route.RowRemap;

/** One layer call under way: lanes are computed where their experts' rows lie, then summed per token. */
final class LayerPass {
    private final HostSource source;
    private final ActivationType type;
    private final int layer;
    private final int topK;
    private final int hidden;
    private final short[] activations;
    private final float[] weights;
    private final short[] laneOutputs; // [lanes, hidden], zero at first
    private final boolean[] computed; // [lanes]

    /**
     * @param source gives the row layout, the activations' type and the alphas; its rows are not read
     * @param lanes lanes of the call, by its ids
     */
    LayerPass(HostSource source, int layer, int topK, int lanes, short[] activations, float[] weights) {
        this.source = source;
        type = source.activations();
        this.layer = layer;
        this.topK = topK;
        hidden = source.layout().hidden();
        this.activations = activations;
        this.weights = weights;
        require("ids", lanes, (long) lanes / topK * topK);
        require("weights", weights.length, lanes);
        require("activations", activations.length, (long) lanes / topK * hidden);
        laneOutputs = new short[Math.multiplyExact(weights.length, hidden)];
        computed = new boolean[weights.length];
    }

    /**
     * Computes lanes whose expert has a row here.
     *
     * @param ids expert by lane, -1 for lanes that are not to be computed
     * @param rowByExpert row by expert of the layer
     * @param rows the bytes of a row
     */
    void compute(int[] ids, int[] rowByExpert, IntFunction<ByteBuffer> rows) {
        int lanes = computed.length;
        int blockSize = BlockSize.choose(lanes / topK, topK, source.experts());
        LaneBlocks blocks = LaneBlocks.align(ids, lanes, source.experts(), blockSize);
        int[] physical = RowRemap.rows(blocks, rowByExpert);
        for (int block = 0; block < blocks.liveBlocks(); block++) {
            ExpertRowLayout layout = source.layout();
            ExpertChain chain =
                    new ExpertChain(rows.apply(physical[block]), layout, type, alphas(blocks.blockExperts()[block]));
            for (int place = block * blockSize; place < (block + 1) * blockSize; place++) {
                int lane = blocks.sortedLanes()[place];
                if (lane < lanes) {
                    compute(lane, chain);
                }
            }
        }
    }

    /** Sums each token's lanes in ascending slot order; a lane that was not computed is zero. */
    short[] sum() {
        short[] outputs = new short[activations.length];
        for (int token = 0; token < computed.length / topK; token++) {
            for (int h = 0; h < hidden; h++) {
                outputs[token * hidden + h] = type.fromFloat(sum(token, h));
            }
        }
        return outputs;
    }

    private float sum(int token, int h) {
        float sum = 0;
        for (int lane = token * topK; lane < (token + 1) * topK; lane++) {
            sum += type.toFloat(laneOutputs[lane * hidden + h]);
        }
        return sum;
    }

    private void compute(int lane, ExpertChain chain) {
        if (computed[lane]) {
            throw new IllegalStateException("lane " + lane + " of layer " + layer + " is in two partitions");
        }
        computed[lane] = true;
        float[] token = new float[hidden];
        for (int h = 0; h < hidden; h++) {
            token[h] = type.toFloat(activations[lane / topK * hidden + h]);
        }
        chain.lane(token, weights[lane], laneOutputs, lane * hidden);
    }

    private ExpertChain.Alphas alphas(int expert) {
        FloatBuffer table = source.alphas();
        int at = (layer * source.experts() + expert) * HostSource.PROJECTIONS;
        return new ExpertChain.Alphas(table.get(at), table.get(at + 1), table.get(at + 2));
    }

    private static void require(String what, int length, long expected) {
        if (length != expected) {
            throw new IllegalArgumentException(what + " has " + length + " values, expected " + expected);
        }
    }
}
