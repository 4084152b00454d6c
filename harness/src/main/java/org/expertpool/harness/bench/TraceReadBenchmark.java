package org.expertpool.harness.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.MappedTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceWriter;
import org.expertpool.harness.trace.Traces;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Rate of reading expert ids from a memory-mapped canonical trace of 48 x 512 top-10, in lanes, from the page cache. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class TraceReadBenchmark {
    private static final int LAYERS = 48;
    private static final int TOP_K = 10;
    private static final int FORWARDS = 500;
    private static final int LANES = FORWARDS * LAYERS * TOP_K;

    private final int[] ids = new int[TOP_K];
    private Path file;
    private RoutingTrace trace;

    @Setup
    public void writeTrace() throws IOException {
        file = Files.createTempFile("trace-read", ".bin");
        try (RoutingTrace generated = SyntheticTraces.preset("qwen3.8-flash-next-prose", FORWARDS, 1);
                TraceWriter writer = TraceWriter.create(file, generated.shape(), generated.source())) {
            Traces.copy(generated, writer);
            writer.commit();
        }
        trace = MappedTrace.open(file);
    }

    @TearDown
    public void removeTrace() throws IOException {
        trace.close();
        Files.delete(file);
    }

    @Benchmark
    @OperationsPerInvocation(LANES)
    public long readIds() {
        ForwardCursor cursor = trace.cursor();
        long sum = 0;
        while (cursor.next()) {
            for (int layer = 0; layer < LAYERS; layer++) {
                cursor.ids(layer, ids);
                sum += ids[0];
            }
        }
        return sum;
    }
}
