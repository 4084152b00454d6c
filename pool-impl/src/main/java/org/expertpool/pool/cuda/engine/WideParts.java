package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Wide calls of every layer, each as two launches into one lane buffer: experts in the bank, and all others elsewhere.
 * Owns what the launches share.
 */
final class WideParts implements AutoCloseable {
    private static final long NOT_READ = 0; // rows by lane: for calls of few tokens alone

    /** One layer's two launches; alignment and sum, by either, are for both. */
    record Layer(MoeLaunch hits, MoeLaunch others) implements AutoCloseable {
        @Override
        public void close() {
            others.close();
            hits.close();
        }
    }

    /** Where the experts that are not resident lie: rows, and device address of i32 {@code [experts]}, -1 if resident. */
    record Elsewhere(RowView rows, long rowOfExpert) {}

    private final DevicePool pool;
    private final CallMemory memory;
    private final DevicePartition partition;
    private final DeviceMoe moe;
    private final List<Layer> layers = new ArrayList<>();

    WideParts(DevicePool pool, CallMemory memory, DevicePartition partition, IntFunction<Elsewhere> elsewhere) {
        this.pool = pool;
        this.memory = memory;
        this.partition = partition;
        DeviceModel model = pool.model();
        moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            Elsewhere others = elsewhere.apply(layer);
            layers.add(new Layer(
                    moe.bindAligned(call(layer, pool.bank().view(), pool.hotRows(layer))),
                    moe.bindAligned(call(layer, others.rows(), others.rowOfExpert()))));
        }
    }

    Layer layer(int layer) {
        return layers.get(layer);
    }

    @Override
    public void close() {
        layers.forEach(Layer::close);
        moe.close();
    }

    private MoeCall call(int layer, RowView rows, long rowOfExpert) {
        return new MoeCall(
                memory.tokens(),
                memory.activations(layer),
                partition.safeIds(),
                NOT_READ,
                rowOfExpert,
                memory.weights(),
                pool.model().alphas().address(layer),
                rows,
                memory.out());
    }
}
