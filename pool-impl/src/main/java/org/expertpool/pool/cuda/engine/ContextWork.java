package org.expertpool.pool.cuda.engine;

import java.util.function.IntToLongFunction;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.model.StandIn;

/** What stands in for the KV cache of every layer: memory of its own for each, as much of it read as the context is long. */
final class ContextWork implements AutoCloseable {
    private static final int DIGEST_VALUES = 4; // a u64 as bf16

    private final DeviceBuffer length; // i64 [1] tokens
    private final PinnedSlab hostLength;
    private final long mostTokens;
    private final StandInLayers layers;

    /** @param digests by layer, device address of a u64 that its read depends on; 0: it depends on the output before */
    ContextWork(DeviceModel model, CallMemory calls, LayerRest rest, IntToLongFunction digests) {
        mostTokens = rest.mostContextTokens();
        length = new DeviceBuffer(model.context(), Long.BYTES);
        hostLength = new PinnedSlab(model.context(), Long.BYTES);
        layers = new StandInLayers(model, Math.multiplyExact(rest.kvBytesPerToken(), mostTokens), (layer, address) -> {
            long digest = digests.applyAsLong(layer);
            return StandIn.keyValues(
                    model.context(),
                    address,
                    rest.kvBytesPerToken(),
                    length.address(),
                    mostTokens,
                    digest == 0 ? calls.out() : digest,
                    digest == 0 ? calls.outputValuesPerToken() : DIGEST_VALUES,
                    model.stream());
        });
        setTokens(mostTokens, model.stream());
    }

    /** How long the context of forwards enqueued from here on is; waits for those before. */
    void setTokens(long tokens, CudaStream stream) {
        if (tokens < 0 || tokens > mostTokens) {
            throw new BadInputException("context is " + tokens + " tokens, expected 0 to " + mostTokens);
        }
        hostLength.buffer().putLong(0, tokens);
        length.upload(0, hostLength, 0, Long.BYTES, stream);
        stream.synchronise("set the context to " + tokens + " tokens");
    }

    void enqueue(int layer, CudaStream stream) {
        layers.enqueue(layer, stream);
    }

    /** Device address of a u64 that depends on all that the layer's call read. */
    long digest(int layer) {
        return layers.digest(layer);
    }

    @Override
    public void close() {
        layers.close();
        hostLength.close();
        length.close();
    }
}
