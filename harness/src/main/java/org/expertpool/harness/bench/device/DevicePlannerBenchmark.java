package org.expertpool.harness.bench.device;

import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.DeviceTables;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.StepLaunch;
import org.expertpool.pool.cuda.StepMemory;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Time of a step of the planner kernel, one after the other in graphs, by rows and misses ({@link CyclicRouting}). */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class DevicePlannerBenchmark {
    /** 448 forwards of 48 layers: whole turns of the routing for each default, as parts of a turn differ by some percent. */
    private static final int STEPS = 21504;

    private static final int GRAPH_FORWARDS = 32;

    @Param("48")
    public int layers;

    @Param("512")
    public int experts;

    @Param("10")
    public int topK;

    @Param("258")
    public int rows;

    @Param({"0", "1", "2", "5", "10"})
    public int misses;

    private final List<CudaGraph> graphs = new ArrayList<>();
    private CudaContext context;
    private CudaStream stream;
    private DeviceTime.Section section;
    private StepLaunch[] steps;
    private DeviceBuffer outputs; // StepOutput, step map [E]; by layer
    private DeviceBuffer ids;
    private DeviceBuffer weights;
    private RoutingTape tape;
    private int launches; // of an invocation
    private int next;

    @Setup
    public void warmTables(BenchmarkParams params) {
        int forwards = params.getOpsPerInvocation() / layers;
        int captured = forwards % GRAPH_FORWARDS == 0 ? GRAPH_FORWARDS : forwards;
        launches = forwards / captured;
        PoolConfig config = new PoolConfig(layers, experts, topK, rows, 1);
        tape = new CyclicRouting(config, misses).tape();
        context = CudaContext.open();
        stream = new CudaStream(context);
        section = new DeviceTime.Section(context, stream);
        DeviceTables tables = new DeviceTables(context, config, stream);
        tables.upload(new PoolTables(config));
        tables.controls(PoolControls.DEFAULTS.withGate(true));
        ids = DeviceBuffer.holding(
                context,
                stream,
                (long) Integer.BYTES * tape.ids().length,
                host -> host.asIntBuffer().put(tape.ids()));
        weights = DeviceBuffer.holding(
                context,
                stream,
                (long) Float.BYTES * tape.weights().length,
                host -> host.asFloatBuffer().put(tape.weights()));
        outputs = new DeviceBuffer(context, layers * outputBytes());
        steps = new StepLaunch[layers];
        for (int layer = 0; layer < layers; layer++) {
            long output = outputs.address() + layer * outputBytes();
            steps[layer] = new StepLaunch(context, new StepMemory(tables, output, output + STEP_OUTPUT.bytes()));
        }
        enqueue(0, tape.forwards());
        requireMisses();
        for (int forward = 0; forward == 0 || forward % tape.forwards() != 0; forward += captured) {
            int first = forward;
            graphs.add(CudaGraph.capture(context, stream, () -> enqueue(first, captured)));
        }
    }

    private long outputBytes() {
        return STEP_OUTPUT.bytes() + (long) Integer.BYTES * experts;
    }

    private void enqueue(int first, int forwards) {
        for (int forward = first; forward < first + forwards; forward++) {
            for (int layer = 0; layer < layers; layer++) {
                long at = (long) Integer.BYTES * tape.at(forward % tape.forwards(), layer);
                steps[layer].enqueue(layer, topK, ids.address() + at, weights.address() + at, stream);
            }
        }
    }

    private void requireMisses() {
        try (PinnedSlab host = new PinnedSlab(context, outputs.bytes())) {
            outputs.download(0, host, 0, outputs.bytes(), stream);
            stream.synchronise("warm the tables");
            for (int layer = 0; layer < layers; layer++) {
                int at = Math.toIntExact(layer * outputBytes());
                int missed = host.buffer().getInt(at + STEP_OUTPUT.offset("promoted"))
                        + host.buffer().getInt(at + STEP_OUTPUT.offset("staged"));
                if (missed != misses) {
                    throw new IllegalStateException(
                            "a step of layer " + layer + " misses " + missed + " experts, expected " + misses);
                }
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void step(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), this::launch);
    }

    private void launch() {
        for (int launch = 0; launch < launches; launch++) {
            graphs.get(next).launch(stream);
            next = (next + 1) % graphs.size();
        }
    }

    @TearDown
    public void close() {
        context.close();
    }
}
