package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import org.expertpool.harness.rows.HostRows;
import org.expertpool.harness.rows.RowContent;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.model.DeviceSpeed;

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
    private Optional<DeviceSpeed> before = Optional.empty();
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
                before = speed(context);
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

    /**
     * What link, memory and launches came to before the first cell, and what they come to now, each absent where it could
     * not be measured: there was no memory, or the device is lost. A link may be slower than its name, and than it was.
     */
    ObjectNode speeds() {
        ObjectNode speeds = JsonNodeFactory.instance.objectNode();
        if (context != null) {
            ObjectNode device = speeds.putObject("device_speed");
            before.ifPresent(speed -> device.set("before", json(speed)));
            if (!lost) {
                try {
                    run(open -> speed(open).ifPresent(speed -> device.set("after", json(speed))));
                } catch (RunEndedException atTheEnd) {
                    return speeds; // all cells are done
                }
            }
        }
        return speeds;
    }

    private static Optional<DeviceSpeed> speed(CudaContext context) {
        boolean real = context.driverKind() == DriverKind.REAL;
        try {
            return Optional.of(
                    DeviceSpeed.measure(context, real ? DeviceSpeed.Effort.USUAL : DeviceSpeed.Effort.LEAST));
        } catch (CudaException failure) {
            if (failure.isOutOfMemory()) {
                return Optional.empty();
            }
            throw failure;
        }
    }

    private static ObjectNode json(DeviceSpeed speed) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("host_to_device_gb_per_s", speed.hostToDevice())
                .put("device_to_host_gb_per_s", speed.deviceToHost())
                .put("kernel_over_link_gb_per_s", speed.zeroCopy())
                .put("memory_read_gb_per_s", speed.memoryRead())
                .put("launch_us", speed.launchMicros());
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
