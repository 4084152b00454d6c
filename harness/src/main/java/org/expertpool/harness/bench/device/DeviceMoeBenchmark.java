package org.expertpool.harness.bench.device;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.engine.DeviceBank;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DeviceMoe;
import org.expertpool.pool.cuda.engine.MoeCall;
import org.expertpool.pool.cuda.engine.MoeLaunch;
import org.expertpool.pool.marlin.ActivationType;
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
 * Time of the alignment, of both GEMMs over aligned lanes, and of a whole MoE call by its fastest way, one call after the
 * other in a graph, by tokens. All rows are resident; each token's experts are distinct and drawn uniformly.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class DeviceMoeBenchmark {
    private static final int CALLS = 48;

    @Param("qwen3.8-flash-next")
    public String model;

    @Param("2")
    public int layers;

    @Param({"1", "8", "64", "512"})
    public int tokens;

    @Param("bf16")
    public String activations;

    private final Random random = new Random(1);
    private CudaContext context;
    private DeviceModel device;
    private DeviceTime.Section section;
    private CudaGraph alignments;
    private CudaGraph gemms;
    private CudaGraph calls;

    @Setup
    public void capture(BenchmarkParams params) {
        context = CudaContext.open();
        device = BenchModel.of(context, model, layers, ActivationType.of("-p activations", activations));
        section = new DeviceTime.Section(context, device.stream());
        int experts = device.shape().experts();
        DeviceBank bank = new DeviceBank(context, device.shape().row(), layers * experts);
        for (int layer = 0; layer < layers; layer++) {
            bank.copyIn(layer * experts, device.source(), layer, 0, experts, device.stream());
        }
        device.stream().synchronise("copy in the layers");
        MoeLaunch[] aligned = new MoeLaunch[params.getOpsPerInvocation()];
        MoeLaunch[] fastest = new MoeLaunch[aligned.length];
        bind(bank, aligned, fastest);
        alignments = graph(aligned, launch -> launch.enqueueAlign(device.stream()));
        gemms = graph(aligned, launch -> launch.enqueueGemms(device.stream()));
        calls = graph(fastest, launch -> launch.enqueue(device.stream()));
        alignments.launch(device.stream()); // what the GEMMs go by
        device.stream().synchronise("align the lanes");
    }

    private void bind(DeviceBank bank, MoeLaunch[] aligned, MoeLaunch[] fastest) {
        int experts = device.shape().experts();
        int lanes = tokens * device.shape().topK();
        int hidden = device.shape().row().hidden();
        DeviceBuffer identity = ints(IntStream.range(0, experts).toArray());
        DeviceBuffer inputs = halves(tokens * hidden);
        DeviceBuffer weights = DeviceBuffer.holding(
                context,
                device.stream(),
                (long) Float.BYTES * lanes,
                host -> IntStream.range(0, lanes)
                        .forEach(lane -> host.putFloat(1f / device.shape().topK())));
        DeviceBuffer out = new DeviceBuffer(context, inputs.bytes());
        for (int call = 0; call < aligned.length; call++) {
            long ids = ints(routing()).address();
            int layer = call % layers;
            MoeCall moe = new MoeCall(
                    tokens,
                    inputs.address(),
                    ids,
                    ids,
                    identity.address(),
                    weights.address(),
                    device.alphas().address(layer),
                    bank.view().from((long) layer * experts),
                    out.address());
            // Scratch memory of its own: GEMMs without their alignment need what it left.
            DeviceMoe kernels = new DeviceMoe(context, device.shape(), tokens, device.stream());
            aligned[call] = kernels.bindAligned(moe);
            fastest[call] = kernels.bind(moe);
        }
    }

    /** i32 {@code [T, topK]} */
    private int[] routing() {
        int topK = device.shape().topK();
        int[] ids = new int[tokens * topK];
        for (int at = 0; at < ids.length; at += topK) {
            int[] distinct = random.ints(0, device.shape().experts())
                    .distinct()
                    .limit(topK)
                    .toArray();
            System.arraycopy(distinct, 0, ids, at, topK);
        }
        return ids;
    }

    private DeviceBuffer ints(int[] values) {
        return DeviceBuffer.holding(
                context,
                device.stream(),
                (long) Integer.BYTES * values.length,
                host -> host.asIntBuffer().put(values));
    }

    private DeviceBuffer halves(int count) {
        return DeviceBuffer.holding(context, device.stream(), (long) Short.BYTES * count, host -> {
            for (int i = 0; i < count; i++) {
                host.putShort(device.shape().activations().fromFloat((float) random.nextGaussian()));
            }
        });
    }

    private CudaGraph graph(MoeLaunch[] launches, Consumer<MoeLaunch> enqueue) {
        return CudaGraph.capture(context, device.stream(), () -> {
            for (MoeLaunch launch : launches) {
                enqueue.accept(launch);
            }
        });
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void align(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), () -> alignments.launch(device.stream()));
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void gemms(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), () -> gemms.launch(device.stream()));
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void call(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), () -> calls.launch(device.stream()));
    }

    @TearDown
    public void close() {
        context.close();
    }
}
