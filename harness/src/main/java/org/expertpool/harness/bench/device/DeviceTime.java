package org.expertpool.harness.bench.device;

import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Time on the device and operations of an iteration. Raw counts, as JMH adds them up over iterations and forks; {@link
 * DeviceTimeProfiler} makes the ratio.
 */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class DeviceTime {
    public long deviceNanos;
    public long deviceOps;

    /** Two events on a stream, and what is enqueued between them. */
    static final class Section {
        private final CudaStream stream;
        private final CudaEvent start;
        private final CudaEvent end;

        /** The events are the context's to free. */
        Section(CudaContext context, CudaStream stream) {
            this.stream = stream;
            start = new CudaEvent(context);
            end = new CudaEvent(context);
        }

        /** Enqueues, waits once, and counts so many operations. */
        void run(DeviceTime time, int operations, Runnable enqueue) {
            start.record(stream);
            enqueue.run();
            end.record(stream);
            time.deviceNanos += Math.round(end.microsecondsSince(start) * 1e3);
            time.deviceOps += operations;
        }
    }
}
