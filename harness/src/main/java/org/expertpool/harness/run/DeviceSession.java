package org.expertpool.harness.run;

import org.expertpool.harness.rows.HostRows;
import org.expertpool.harness.rows.RowContent;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.engine.DeviceModel;

/** The device from the first cell that needs it to the end of a run, or to its loss, with the experts of the last seed. */
final class DeviceSession implements AutoCloseable {
    /** Cells of one seed follow each other, so that one seed's experts at a time are enough. */
    private record Loaded(String words, DeviceModel experts) {}

    /** Work on the device that ends in an exception where it fails. */
    @FunctionalInterface
    interface Work {
        void run(CudaContext context);
    }

    private final ModelWeights weights;
    private final HostRows rows;
    private CudaContext context; // opened by the first cell, on the thread that measures
    private Loaded loaded;
    private boolean lost; // most of the driver's errors stay

    DeviceSession(ModelWeights weights, HostRows rows) {
        this.weights = weights;
        this.rows = rows;
    }

    /** Its name, marked where a stub of the tests answers; empty until it is opened. */
    String deviceName() {
        if (context == null) {
            return "";
        }
        String name = context.device().name();
        return context.driverKind() == DriverKind.STUB ? "stub: " + name : name;
    }

    /**
     * Runs work on the device.
     *
     * @throws CudaException there was too little memory; the device goes on working
     * @throws RunEndedException the device is lost
     */
    void run(Work work) {
        try {
            if (context == null) {
                context = CudaContext.open();
            }
            work.run(context);
        } catch (CudaException failure) {
            if (failure.isOutOfMemory()) {
                throw failure;
            }
            lost = true;
            throw new RunEndedException("the device is lost: " + failure.getMessage(), failure);
        }
    }

    /** The experts of a seed in pinned memory. */
    DeviceModel experts(long seed) {
        RowContent content = weights.content(context, seed);
        if (loaded == null) {
            loaded = new Loaded(
                    content.words(),
                    rows.load(context, content, weights.geometry().topK()));
        } else if (!loaded.words().equals(content.words())) {
            DeviceModel old = loaded.experts();
            loaded = null;
            loaded = new Loaded(content.words(), rows.replace(old, content));
        }
        return loaded.experts();
    }

    @Override
    public void close() {
        if (context != null && !lost) {
            context.close();
        }
    }
}
