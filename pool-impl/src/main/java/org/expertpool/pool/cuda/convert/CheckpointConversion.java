package org.expertpool.pool.cuda.convert;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.LayerConversion;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleLoss;

/**
 * The load path with a device: a layer's experts go there in checkpoint form and come back as rows, so many at a time,
 * through one pinned slab. Bytes and alphas are those of the host's conversion.
 */
public final class CheckpointConversion implements LayerConversion, AutoCloseable {
    /** Enough for the link to run at its rate, little beside a layer. */
    private static final long STAGING_BYTES = 128L << 20;

    private final ExpertRowLayout layout;
    private final ActivationType activations;
    private final int most;
    private final CudaStream stream;
    private final DeviceConversion conversion;
    private final DeviceBuffer plain; // [most] plain rows
    private final DeviceBuffer rows; // [most] Marlin rows
    private final PinnedSlab staging; // [most] rows on their way there and back

    public CheckpointConversion(CudaContext context, ExpertRowLayout layout, int experts, ExpertPacker packer) {
        this(context, layout, packer, (int) Math.max(1, Math.min(experts, STAGING_BYTES / layout.rowBytes())));
    }

    /** @param most experts that are on the device at a time */
    CheckpointConversion(CudaContext context, ExpertRowLayout layout, ExpertPacker packer, int most) {
        this.layout = layout;
        activations = packer.type();
        this.most = most;
        stream = new CudaStream(context);
        conversion = new DeviceConversion(context, layout, packer, most);
        plain = new DeviceBuffer(context, layout.rowOffset(most));
        rows = new DeviceBuffer(context, layout.rowOffset(most));
        staging = new PinnedSlab(context, layout.rowOffset(most));
    }

    @Override
    public ActivationType activations() {
        return activations;
    }

    @Override
    public ScaleLoss convert(Checkpoint checkpoint, int layer, ByteBuffer slab, FloatBuffer alphas) {
        int experts = checkpoint.geometry().experts();
        ByteBuffer into = slab.duplicate();
        FloatBuffer table = alphas.duplicate();
        ScaleLoss loss = ScaleLoss.NONE;
        for (int first = 0; first < experts; first += most) {
            int count = Math.min(most, experts - first);
            for (ExpertPacker.Packed packed : convert(checkpoint, layer, first, count, into)) {
                table.put(packed.gate()).put(packed.up()).put(packed.down());
                loss = loss.plus(packed.loss());
            }
        }
        return loss;
    }

    private List<ExpertPacker.Packed> convert(Checkpoint checkpoint, int layer, int first, int count, ByteBuffer into) {
        float[] globalScales = new float[count * HostSource.PROJECTIONS];
        BadInputException[] refusals = new BadInputException[count];
        IntStream.range(0, count).parallel().forEach(i -> {
            try {
                stage(checkpoint.expert(layer, first + i), i, globalScales);
            } catch (BadInputException refused) {
                refusals[i] = refused;
            }
        });
        for (BadInputException refused : refusals) { // the first by number, whichever was found first
            if (refused != null) {
                throw refused;
            }
        }
        long bytes = layout.rowOffset(count);
        plain.upload(0, staging, 0, bytes, stream);
        List<ExpertPacker.Packed> packed = pack(checkpoint, layer, count, globalScales);
        rows.download(0, staging, 0, bytes, stream);
        stream.synchronise("convert experts " + first + " to " + (first + count - 1) + " of layer " + layer);
        into.put(staging.slice(0, (int) bytes));
        return packed;
    }

    private void stage(PlainExpert expert, int at, float[] globalScales) {
        int rowBytes = (int) layout.rowBytes();
        expert.putPlain(staging.slice(at * rowBytes, rowBytes));
        globalScales[at * HostSource.PROJECTIONS] = expert.gate().globalScale();
        globalScales[at * HostSource.PROJECTIONS + 1] = expert.up().globalScale();
        globalScales[at * HostSource.PROJECTIONS + 2] = expert.down().globalScale();
    }

    private List<ExpertPacker.Packed> pack(Checkpoint checkpoint, int layer, int count, float[] globalScales) {
        try {
            return conversion.convert(layer, count, plain.address(), globalScales, rows.address(), stream);
        } catch (BadInputException refused) {
            throw new BadInputException(checkpoint.folder() + ": " + refused.getMessage(), refused);
        }
    }

    @Override
    public void close() {
        staging.close();
        rows.close();
        plain.close();
        conversion.close();
        stream.close();
    }
}
