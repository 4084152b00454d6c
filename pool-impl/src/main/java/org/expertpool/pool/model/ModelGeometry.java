package org.expertpool.pool.model;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;

/**
 * The sizes of a mixture-of-experts model that the pool and the capacity arithmetic need.
 *
 * @param name preset name or checkpoint folder
 * @param layers MoE layers
 * @param experts routed experts per layer
 * @param topK routed experts per token
 * @param hidden hidden size H, a multiple of 64
 * @param expertWidth intermediate size I of one expert, a multiple of 64
 * @param kvBytesPerToken KV cache bytes one token of context takes, over all layers
 * @param denseBytesPerLayer bytes of weights outside the routed experts that one decode token reads, per layer
 * @param fixedBytes GPU bytes that neither rows nor context change: dense weights and what the engine keeps for itself
 */
public record ModelGeometry(
        String name,
        int layers,
        int experts,
        int topK,
        int hidden,
        int expertWidth,
        long kvBytesPerToken,
        long denseBytesPerLayer,
        long fixedBytes) {
    public ModelGeometry {
        positive(name, "layers", layers);
        positive(name, "experts", experts);
        positive(name, "topK", topK);
        positive(name, "hidden", hidden);
        positive(name, "expertWidth", expertWidth);
        notNegative(name, "kvBytesPerToken", kvBytesPerToken);
        notNegative(name, "denseBytesPerLayer", denseBytesPerLayer);
        notNegative(name, "fixedBytes", fixedBytes);
        if (topK > experts) {
            throw new BadInputException(
                    "model " + name + ": topK is " + topK + ", expected at most experts = " + experts);
        }
        long keys = (long) layers * experts;
        if (keys > Integer.MAX_VALUE) {
            throw new BadInputException("model " + name + ": layers * experts is " + keys + ", expected at most "
                    + Integer.MAX_VALUE + " (keys are 32-bit)");
        }
        long rowBytes = layout(name, hidden, expertWidth).rowBytes();
        if (rowBytes > Long.MAX_VALUE / keys) {
            throw new BadInputException("model " + name + ": " + keys + " rows of " + rowBytes
                    + " bytes, expected at most " + Long.MAX_VALUE + " bytes in all");
        }
    }

    /** The same with another number of layers. */
    public ModelGeometry withLayers(int count) {
        return new ModelGeometry(
                name, count, experts, topK, hidden, expertWidth, kvBytesPerToken, denseBytesPerLayer, fixedBytes);
    }

    /** The layout of this model's expert rows. */
    public ExpertRowLayout rowLayout() {
        return new ExpertRowLayout(hidden, expertWidth);
    }

    /** Bytes of one expert row. */
    public long rowBytes() {
        return rowLayout().rowBytes();
    }

    /** Bytes of all expert rows of one layer. */
    public long layerBytes() {
        return experts * rowBytes();
    }

    /** Bytes of all expert rows of the model. */
    public long allExpertBytes() {
        return layers * layerBytes();
    }

    private static ExpertRowLayout layout(String model, int hidden, int expertWidth) {
        try {
            return new ExpertRowLayout(hidden, expertWidth);
        } catch (BadInputException unfit) {
            throw new BadInputException("model " + model + ": " + unfit.getMessage(), unfit);
        }
    }

    private static void positive(String model, String field, long value) {
        if (value < 1) {
            throw new BadInputException("model " + model + ": " + field + " is " + value + ", expected at least 1");
        }
    }

    private static void notNegative(String model, String field, long value) {
        if (value < 0) {
            throw new BadInputException("model " + model + ": " + field + " is " + value + ", expected at least 0");
        }
    }
}
