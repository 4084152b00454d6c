package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.expertpool.pool.cuda.CudaStream;

/**
 * Calls of every layer, each as two launches into one lane buffer: experts in the bank, and all others elsewhere. Owns what
 * the launches share.
 */
final class WideParts implements AutoCloseable {
    private static final long NOT_READ = 0; // rows by lane: for calls of few tokens alone

    /** One layer's two launches; alignment and sum, by either, are for both. */
    record Layer(MoeLaunch hits, MoeLaunch others) implements AutoCloseable {
        /** Enqueues all of the call. */
        void enqueue(CudaStream stream) {
            hits.enqueueAlign(stream);
            hits.enqueueGemms(stream);
            others.enqueueGemms(stream);
            hits.enqueueSum(stream);
        }

        @Override
        public void close() {
            others.close();
            hits.close();
        }
    }

    /** Where some of a layer's experts lie: rows, and device address of i32 {@code [experts]}, -1 for those elsewhere. */
    record Rows(RowView rows, long rowOfExpert) {}

    private final DeviceModel model;
    private final CallMemory memory;
    private final long ids;
    private final DeviceMoe moe;
    private final List<Layer> layers = new ArrayList<>();

    /** @param ids device address of i32 {@code [lanes]}: the expert of each valid lane, else -1 */
    WideParts(
            DeviceModel model, CallMemory memory, long ids, IntFunction<Rows> residents, IntFunction<Rows> elsewhere) {
        this.model = model;
        this.memory = memory;
        this.ids = ids;
        moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(new Layer(
                    moe.bindAligned(call(layer, residents.apply(layer))),
                    moe.bindAligned(call(layer, elsewhere.apply(layer)))));
        }
    }

    /** Over a placement of the host's, as its maps say when the calls run. */
    static WideParts of(DeviceModel model, CallMemory memory, HostPlacement placement) {
        ResidencyMaps maps = placement.maps();
        return new WideParts(
                model,
                memory,
                memory.ids(),
                layer -> new Rows(placement.bank().view(), maps.inBank(layer)),
                layer -> new Rows(model.hostRows(layer), maps.onHost(layer)));
    }

    Layer layer(int layer) {
        return layers.get(layer);
    }

    @Override
    public void close() {
        layers.forEach(Layer::close);
        moe.close();
    }

    private MoeCall call(int layer, Rows rows) {
        return new MoeCall(
                memory.tokens(),
                memory.activations(layer),
                ids,
                NOT_READ,
                rows.rowOfExpert(),
                memory.weights(),
                model.alphas().address(layer),
                rows.rows(),
                memory.out());
    }
}
