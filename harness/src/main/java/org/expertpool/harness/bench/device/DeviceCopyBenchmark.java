package org.expertpool.harness.bench.device;

import static org.expertpool.pool.cuda.layout.KernelLayouts.ROW_COPY;
import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.engine.DeviceBank;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.RowCopier;
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

/** Time of a layer call's row copies over the link, by rows and by blocks of the fixed grid; no row twice in a graph. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class DeviceCopyBenchmark {
    private static final int CALLS = 48;

    @Param("qwen3.8-flash-next")
    public String model;

    @Param("2")
    public int layers;

    @Param({"1", "2", "5", "10"})
    public int copies;

    @Param("16")
    public int blocks;

    private CudaContext context;
    private DeviceModel device;
    private DeviceTime.Section section;
    private CudaGraph graph;

    @Setup
    public void capture(BenchmarkParams params) {
        int calls = params.getOpsPerInvocation();
        context = CudaContext.open();
        device = BenchModel.of(context, model, layers, ActivationType.BF16);
        section = new DeviceTime.Section(context, device.stream());
        DeviceBank bank = new DeviceBank(context, device.shape().row(), copies);
        DeviceBuffer plans = DeviceBuffer.holding(
                context, device.stream(), (long) calls * STEP_OUTPUT.bytes(), host -> plans(host, calls));
        RowCopier copier = new RowCopier(context, device.source(), bank, blocks, device.stream());
        RowCopier.Launch[] launches = new RowCopier.Launch[calls];
        for (int call = 0; call < calls; call++) {
            launches[call] = copier.bind(call % layers, plans.address() + (long) call * STEP_OUTPUT.bytes());
        }
        graph = CudaGraph.capture(context, device.stream(), () -> {
            for (RowCopier.Launch launch : launches) {
                launch.enqueue(device.stream());
            }
        });
        graph.launch(device.stream());
        requireCopies(bank, calls - 1);
    }

    private void requireCopies(DeviceBank bank, int call) {
        try (PinnedSlab row = new PinnedSlab(context, device.shape().row().rowBytes())) {
            for (int copy = 0; copy < copies; copy++) {
                bank.copyOut(copy, row, device.stream());
                device.stream().synchronise("read back row " + copy);
                if (!row.buffer().equals(device.source().row(call % layers, expert(call, copy)))) {
                    throw new IllegalStateException("row " + copy + " of the bank is not what was copied there");
                }
            }
        }
    }

    private int expert(int call, int copy) {
        return (call / layers * copies + copy) % device.shape().experts();
    }

    /** Each call's list: the layer's next experts, into the bank's rows. */
    private void plans(ByteBuffer host, int calls) {
        for (int call = 0; call < calls; call++) {
            int plan = call * STEP_OUTPUT.bytes();
            host.putInt(plan + STEP_OUTPUT.offset("promoted"), copies);
            host.putInt(plan + STEP_OUTPUT.offset("staged"), 0);
            for (int copy = 0; copy < copies; copy++) {
                int at = plan + STEP_OUTPUT.offset("copies") + copy * ROW_COPY.bytes();
                host.putInt(at + ROW_COPY.offset("expert"), expert(call, copy));
                host.putInt(at + ROW_COPY.offset("row"), copy);
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void copy(DeviceTime time, BenchmarkParams params) {
        section.run(time, params.getOpsPerInvocation(), () -> graph.launch(device.stream()));
    }

    @TearDown
    public void close() {
        context.close();
    }
}
