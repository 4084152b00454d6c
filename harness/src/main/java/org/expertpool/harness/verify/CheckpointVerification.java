package org.expertpool.harness.verify;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.expertpool.harness.exact.CallTally;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.ExpertLoader;
import org.expertpool.pool.checkpoint.HostConversion;
import org.expertpool.pool.checkpoint.LoadedExperts;
import org.expertpool.pool.checkpoint.Models;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.convert.CheckpointConversion;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DeviceMoeEngine;
import org.expertpool.pool.cuda.engine.DevicePool;
import org.expertpool.pool.cuda.engine.FixedEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.WidePool;
import org.expertpool.pool.engine.MoeEngine;
import org.expertpool.pool.engine.PoolEngine;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.route.StreamPlan;

/**
 * A checkpoint's own experts through the engines: within the arithmetic's bounds of float64 and of outputs that came with
 * the checkpoint, and through pools of several sizes to the last bit. As many layers as fit a memory budget, spread from
 * first to last.
 */
public final class CheckpointVerification {
    private static final long MOST_BYTES = 512L << 20;
    private static final int COPY_BLOCKS = 16;

    /**
     * One thing looked at.
     *
     * @param calls layer calls
     * @param result what came out
     * @param holds whether it is as it must be
     */
    public record Finding(String name, long calls, double seconds, String result, boolean holds) {}

    private final Checkpoint checkpoint;
    private final ModelGeometry model;
    private final ActivationType activations;
    private final List<Integer> layers;
    private final EngineChecks checks;
    private final Consumer<Finding> found;

    private CheckpointVerification(Path folder, ActivationType activations, long seed, Consumer<Finding> found)
            throws IOException {
        checkpoint = Models.open(folder);
        model = checkpoint.geometry();
        this.activations = activations;
        layers = spread(model, MOST_BYTES);
        this.found = found;
        List<MoeCalls> seeded = new ArrayList<>();
        List<MoeCalls> golden = new ArrayList<>();
        for (int layer : layers) {
            seeded.add(MoeCalls.seeded(
                    activations, EngineChecks.TOKENS, model.topK(), model.experts(), model.hidden(), seed + layer));
            if (GoldenCalls.areThere(folder)) {
                golden.add(GoldenCalls.read(folder, model, activations, checkpoint.layerNumber(layer)));
            }
        }
        checks = new EngineChecks(model.topK(), seeded, golden, found);
    }

    /** Verifies a checkpoint with the Java engines, telling of each finding as it is there. */
    public static void java(Path folder, ActivationType activations, long seed, Consumer<Finding> found)
            throws IOException {
        CheckpointVerification verification = new CheckpointVerification(folder, activations, seed, found);
        HostSource source = verification.load();
        MoeEngine resident = new ResidentEngine(source, verification.model.topK());
        verification.checks.arithmetic("resident", source, resident);
        for (int rows : verification.poolRows()) {
            verification.pool(rows, source, resident);
        }
    }

    /** Verifies it with the device's engines, and the conversion there beside the host's. */
    public static void cuda(Path folder, ActivationType activations, long seed, BiConsumer<DriverKind, Finding> found)
            throws IOException {
        try (CudaContext context = CudaContext.open()) {
            CheckpointVerification verification = new CheckpointVerification(
                    folder, activations, seed, finding -> found.accept(context.driverKind(), finding));
            HostSource expected = verification.load();
            try (PinnedSource source = verification.loadThrough(context, expected)) {
                DeviceModel device = DeviceModel.of(context, source, verification.model.topK());
                verification.engines(device);
            }
        }
    }

    private HostSource load() {
        long start = System.nanoTime();
        LoadedExperts loaded = new ExpertLoader(checkpoint, new HostConversion(ExpertPacker.of(activations)))
                .load(layers, SlabAllocator.DIRECT, count -> {});
        String name = layers.size() + " of " + model.layers() + " layers loaded, relative loss of block scales";
        String loss = String.format(Locale.ROOT, "%.1e", loaded.loss().relativeError());
        found.accept(new Finding(name, 0, seconds(start), loss, true));
        return loaded.source();
    }

    private PinnedSource loadThrough(CudaContext context, HostSource expected) {
        long start = System.nanoTime();
        PinnedSource source = PinnedSource.load(context, memory -> {
            try (CheckpointConversion conversion = new CheckpointConversion(
                    context, model.rowLayout(), model.experts(), ExpertPacker.of(activations))) {
                return new ExpertLoader(checkpoint, conversion)
                        .load(layers, memory, count -> {})
                        .source();
            }
        });
        double seconds = seconds(start);
        String result = EngineChecks.EQUAL;
        for (int key = 0; key < layers.size() * model.experts() && result.equals(EngineChecks.EQUAL); key++) {
            int layer = key / model.experts();
            int expert = key % model.experts();
            int at = source.row(layer, expert).mismatch(expected.row(layer, expert));
            result = at < 0 ? EngineChecks.EQUAL : "differs: layer " + layer + ", expert " + expert + ", byte " + at;
        }
        if (result.equals(EngineChecks.EQUAL) && !source.alphas().equals(expected.alphas())) {
            result = "differs: alphas";
        }
        found.accept(new Finding(
                "rows converted on the device = on the host", 0, seconds, result, result.equals(EngineChecks.EQUAL)));
        return source;
    }

    private void engines(DeviceModel device) {
        try (LayerEngine residentEngine = FixedEngine.resident(device);
                LayerEngine uvaEngine = FixedEngine.uva(device, device.layers());
                DeviceMoeEngine resident = new DeviceMoeEngine(device, residentEngine);
                DeviceMoeEngine uva = new DeviceMoeEngine(device, uvaEngine)) {
            checks.arithmetic("resident", device.source(), resident);
            checks.sameBits("uva = resident", uva, resident, 1, () -> EngineChecks.EQUAL);
            checks.sameBits(
                    "uva = resident, " + EngineChecks.TOKENS + " tokens",
                    uva,
                    resident,
                    EngineChecks.TOKENS,
                    () -> EngineChecks.EQUAL);
            for (int rows : poolRows()) {
                devicePool(rows, device, resident);
            }
        }
    }

    private void devicePool(int rows, DeviceModel device, MoeEngine resident) {
        PoolConfig config = new PoolConfig(device.layers(), model.experts(), model.topK(), rows, 1);
        try (DevicePool pool = DevicePool.install(device, config, COPY_BLOCKS);
                DeviceMoeEngine planned = new DeviceMoeEngine(device, pool);
                DeviceMoeEngine hostView = new DeviceMoeEngine(device, new WidePool(pool, new WidePool.HostView()));
                DeviceMoeEngine streamed = new DeviceMoeEngine(
                        device, new WidePool(pool, new WidePool.Streamed(StreamPlan.Shape.DEFAULT, 0)))) {
            pool.openGate(RowCheck.SAMPLED);
            checks.sameBits("pool = resident, N=" + rows, planned, resident, 1, () -> {
                pool.synchronise("look for invalid routing");
                pool.check(RowCheck.SAMPLED);
                return EngineChecks.EQUAL + ", " + newlyResident(pool) + " experts promoted and still there";
            });
            for (DeviceMoeEngine wide : List.of(hostView, streamed)) {
                String way = wide == streamed ? "streamed" : "partition path";
                checks.sameBits(way + " = resident, N=" + rows, wide, resident, EngineChecks.TOKENS, () -> {
                    pool.check(RowCheck.SAMPLED);
                    return EngineChecks.EQUAL;
                });
            }
        }
    }

    private static long newlyResident(DevicePool pool) {
        PoolTables now = pool.tables();
        PoolTables start = new PoolTables(pool.config());
        return IntStream.range(0, pool.config().keys())
                .filter(key -> start.hotRow(key) == PoolTables.ABSENT && now.hotRow(key) != PoolTables.ABSENT)
                .count();
    }

    /** Layers from first to last, evenly, whose rows take no more than so many bytes; at least one. */
    static List<Integer> spread(ModelGeometry model, long mostBytes) {
        int count = (int) Math.max(1, Math.min(model.layers(), mostBytes / model.layerBytes()));
        return IntStream.range(0, count)
                .map(i -> count == 1 ? 0 : (int) ((long) i * (model.layers() - 1) / (count - 1)))
                .boxed()
                .toList();
    }

    /** N of the pools that are looked at. */
    private int[] poolRows() {
        return IntStream.of(model.topK(), model.experts() / 4, model.experts() / 2, model.experts() - 1)
                .filter(rows -> rows >= model.topK() && rows < model.experts())
                .distinct()
                .toArray();
    }

    /** A pool in Java: token by token as decode does, then all tokens of a layer in one call. */
    private void pool(int rows, HostSource source, MoeEngine resident) {
        PoolConfig config = new PoolConfig(source.layers(), source.experts(), model.topK(), rows, 1);
        ExpertPool pool = ExpertPool.installPoisoned(PoolRequest.onHost(config, source));
        pool.openGate();
        CallTally tally = new CallTally();
        tally.begin();
        PoolEngine subject = new PoolEngine(pool, tally);
        checks.sameBits("pool = resident, N=" + rows, subject, resident, 1, () -> {
            pool.synchronise();
            pool.check(RowCheck.SAMPLED);
            return EngineChecks.EQUAL + ", " + tally.promoted() + " promoted, " + tally.staged() + " staged";
        });
        checks.sameBits("partition path = resident, N=" + rows, subject, resident, EngineChecks.TOKENS, () -> {
            pool.check(RowCheck.SAMPLED);
            return EngineChecks.EQUAL + ", " + tally.partitionHits() + " experts in the bank, "
                    + tally.partitionMisses() + " not";
        });
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) * 1e-9;
    }
}
