package org.expertpool.pool.checkpoint;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleLoss;

/**
 * The conversion without a device, several experts at a time. An expert under way takes less than three rows of memory;
 * no more are under way than keep the whole below two layers.
 *
 * @param packer decides the scale factor rule and the activations' type
 */
public record HostConversion(ExpertPacker packer) implements LayerConversion {
    static final int ROWS_UNDER_WAY = 3;

    @Override
    public ActivationType activations() {
        return packer.type();
    }

    @Override
    public ScaleLoss convert(Checkpoint checkpoint, int layer, ByteBuffer slab, FloatBuffer alphas) {
        int experts = checkpoint.geometry().experts();
        int workers = workers(experts, Runtime.getRuntime().availableProcessors());
        ScaleLoss[] losses = new ScaleLoss[experts];
        BadInputException[] refusals = new BadInputException[experts];
        IntStream.range(0, workers).parallel().forEach(worker -> {
            for (int expert = worker; expert < experts; expert += workers) {
                try {
                    losses[expert] = convert(checkpoint, layer, expert, slab, alphas);
                } catch (BadInputException refused) {
                    refusals[expert] = refused;
                }
            }
        });
        ScaleLoss loss = ScaleLoss.NONE;
        for (int expert = 0; expert < experts; expert++) {
            if (refusals[expert] != null) { // the first by number, whichever was found first
                throw refusals[expert];
            }
            loss = loss.plus(losses[expert]);
        }
        return loss;
    }

    static int workers(int experts, int cores) {
        return Math.min(cores, Math.max(1, 2 * experts / ROWS_UNDER_WAY));
    }

    private ScaleLoss convert(Checkpoint checkpoint, int layer, int expert, ByteBuffer slab, FloatBuffer alphas) {
        var plain = checkpoint.expert(layer, expert);
        int rowBytes = (int) plain.layout().rowBytes();
        ExpertPacker.Packed packed;
        try {
            packed = packer.pack(plain, slab.slice(slab.position() + expert * rowBytes, rowBytes));
        } catch (BadInputException refused) {
            throw new BadInputException(
                    checkpoint.folder() + ": " + checkpoint.expertName(layer, expert) + ": " + refused.getMessage(),
                    refused);
        }
        int at = alphas.position() + expert * HostSource.PROJECTIONS;
        alphas.put(at, packed.gate()).put(at + 1, packed.up()).put(at + 2, packed.down());
        return packed.loss();
    }
}
