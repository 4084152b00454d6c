package org.expertpool.pool.cuda.model;

import static org.expertpool.pool.cuda.layout.KernelLayouts.COPY_THREADS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.ROW_COPY_PARAMS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.Arrays;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * Short measurements of a device and its link, each the median of a few; GB is 1e9 bytes. Rates are those of one large
 * transfer between two events; a launch's time is the host's, over bursts that the queue takes without waiting.
 *
 * @param hostToDevice copy engine, pinned memory, GB/s
 * @param deviceToHost copy engine, pinned memory, GB/s
 * @param zeroCopy a kernel that reads pinned memory through its device view, GB/s
 * @param memoryRead a kernel that reads device memory, GB/s
 * @param launchMicros one eager launch from Java, microseconds of the host
 * @param launchMicrosP10 its 10th percentile over the bursts
 * @param launchMicrosP90 its 90th percentile
 */
public record DeviceSpeed(
        double hostToDevice,
        double deviceToHost,
        double zeroCopy,
        double memoryRead,
        double launchMicros,
        double launchMicrosP10,
        double launchMicrosP90) {
    /**
     * How much is measured.
     *
     * @param linkBytes bytes that cross the link at once, a multiple of 16
     * @param memoryBytes bytes of device memory read at once, a multiple of 16
     * @param repetitions of each transfer
     * @param bursts of launches; as many more come before, for the compiler
     * @param launches of a burst
     */
    public record Effort(int linkBytes, long memoryBytes, int repetitions, int bursts, int launches) {
        /** Under a second on a card of today. */
        public static final Effort USUAL = new Effort(128 << 20, 1L << 30, 5, 200, 200);

        /** Enough to show that it works, on a driver that is none. */
        public static final Effort LEAST = new Effort(1 << 12, 1 << 13, 2, 2, 3);
    }

    /** Measures; needs the memory of one transfer on the host and of one read on the device. */
    public static DeviceSpeed measure(CudaContext context, Effort effort) {
        try (CudaStream stream = new CudaStream(context);
                CudaEvent start = new CudaEvent(context);
                CudaEvent end = new CudaEvent(context);
                PinnedSlab host = new PinnedSlab(context, effort.linkBytes());
                DeviceBuffer device = new DeviceBuffer(context, effort.memoryBytes());
                StandIn overLink = read(context, host.deviceAddress(), effort.linkBytes(), stream);
                StandIn inMemory = read(context, device.address(), effort.memoryBytes(), stream);
                DeviceBuffer noCopies = new DeviceBuffer(context, STEP_OUTPUT.bytes());
                Kernel nothing = context.kernel("smxx_row_copy", ROW_COPY_PARAMS.bytes())) {
            device.fill(0, device.bytes(), (byte) 1, stream);
            noCopies.fill(0, noCopies.bytes(), (byte) 0, stream);
            nothing.argument().put(0, new byte[ROW_COPY_PARAMS.bytes()]);
            nothing.argument().putLong(ROW_COPY_PARAMS.offset("plan"), noCopies.address());
            int link = effort.linkBytes();
            Timer timer = new Timer(stream, start, end, effort.repetitions());
            double[] launches = launches(nothing, stream, effort.bursts(), effort.launches());
            return new DeviceSpeed(
                    timer.gigabytesPerSecond(link, () -> device.upload(0, host, 0, link, stream)),
                    timer.gigabytesPerSecond(link, () -> device.download(0, host, 0, link, stream)),
                    timer.gigabytesPerSecond(link, () -> overLink.enqueue(stream)),
                    timer.gigabytesPerSecond(effort.memoryBytes(), () -> inMemory.enqueue(stream)),
                    launches[launches.length / 2],
                    launches[launches.length / 10],
                    launches[launches.length * 9 / 10]);
        }
    }

    private static StandIn read(CudaContext context, long memory, long bytes, CudaStream stream) {
        return StandIn.dense(context, memory, bytes, 0, 0, stream);
    }

    /** Microseconds of the host for one launch of a kernel that ends at once, by burst, ascending. */
    private static double[] launches(Kernel nothing, CudaStream stream, int bursts, int count) {
        double[] micros = new double[bursts];
        for (int burst = -bursts; burst < bursts; burst++) {
            long start = System.nanoTime();
            for (int launch = 0; launch < count; launch++) {
                nothing.launch(1, COPY_THREADS, stream);
            }
            long nanos = System.nanoTime() - start;
            stream.synchronise("launch " + count + " kernels");
            if (burst >= 0) {
                micros[burst] = nanos * 1e-3 / count;
            }
        }
        Arrays.sort(micros);
        return micros;
    }

    /** Times what is enqueued between two events; the first time is not counted. */
    private record Timer(CudaStream stream, CudaEvent start, CudaEvent end, int repetitions) {
        double gigabytesPerSecond(long bytes, Runnable enqueue) {
            double[] micros = new double[repetitions];
            for (int repetition = -1; repetition < repetitions; repetition++) {
                start.record(stream);
                enqueue.run();
                end.record(stream);
                double taken = end.microsecondsSince(start);
                if (repetition >= 0) {
                    micros[repetition] = taken;
                }
            }
            Arrays.sort(micros);
            return bytes / micros[repetitions / 2] * 1e-3;
        }
    }
}
