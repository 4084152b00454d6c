package org.expertpool.harness.bench.device;

import java.util.concurrent.TimeUnit;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.plan.PoolConfig;
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

/**
 * Time of a layer, and of a whole forward, of one token: routing read after the output before, planner, copies, GEMMs and
 * sum, by engine, misses a layer ({@link CyclicRouting}) and graph mode.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class DeviceForwardBenchmark {
    private static final int LAYER_CALLS = 48;
    private static final int FORWARDS = 4;
    private static final int COPY_BLOCKS = 16;

    @Param("bf16")
    public String activations;

    @Param("qwen3.8-flash-next")
    public String model;

    @Param("4")
    public int layers;

    @Param("258")
    public int rows;

    /** {@code resident}, {@code uva}, or {@code pool:M} with M misses a layer. */
    @Param({"resident", "pool:0", "pool:1", "pool:2", "pool:5", "pool:10", "uva"})
    public String engine;

    @Param("FULL_DECODE")
    public DecodeGraph mode;

    private CudaContext context;
    private DeviceModel device;
    private DeviceTime.Section section;
    private DeviceForward forward;

    @Setup
    public void warmPool() {
        context = CudaContext.open();
        device = BenchModel.of(context, model, layers, ActivationType.of("-p activations", activations));
        section = new DeviceTime.Section(context, device.stream());
        PoolConfig config =
                new PoolConfig(layers, device.shape().experts(), device.shape().topK(), rows, 1);
        boolean isPool = engine.startsWith("pool:");
        int misses = isPool ? Integer.parseInt(engine.substring("pool:".length())) : config.topK();
        RoutingTape tape = new CyclicRouting(config, misses).tape();
        LayerEngine placed = engine(config);
        forward = new DeviceForward(
                device,
                placed,
                ForwardSpec.of(1, tape, layers, 1, 1, mode).withReading(RouteReplay.Reading.FIRST_TOKEN));
        if (placed instanceof DevicePool pool) {
            pool.openGate(RowCheck.SAMPLED);
            RouteReplay.Counts cold = forward.run(tape.forwards()).counts();
            RouteReplay.Counts warm = forward.run(tape.forwards()).counts().minus(cold);
            long expected = (long) misses * layers * tape.forwards();
            if (warm.promoted() + warm.staged() != expected) {
                throw new IllegalStateException("the pool misses " + (warm.promoted() + warm.staged())
                        + " experts in a turn of the tape, expected " + expected);
            }
        }
    }

    private LayerEngine engine(PoolConfig config) {
        return switch (engine) {
            case "resident" -> FixedEngine.resident(device);
            case "uva" -> FixedEngine.uva(device, layers);
            default -> DevicePool.install(device, config, COPY_BLOCKS);
        };
    }

    /** A layer call within whole forwards. */
    @Benchmark
    @OperationsPerInvocation(LAYER_CALLS)
    public void layer(DeviceTime time, BenchmarkParams params) {
        int forwards = params.getOpsPerInvocation() / layers;
        section.run(time, forwards * layers, () -> forward.enqueue(forwards));
    }

    /** A forward over all layers. */
    @Benchmark
    @OperationsPerInvocation(FORWARDS)
    public void forward(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), () -> forward.enqueue(params.getOpsPerInvocation()));
    }

    @TearDown
    public void close() {
        context.close();
    }
}
