package org.expertpool.harness.verify;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
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
import org.expertpool.pool.engine.Float64Layer;
import org.expertpool.pool.engine.MoeEngine;
import org.expertpool.pool.engine.PoolEngine;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.lifecycle.ExpertPool;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.plan.PoolConfig;

/**
 * A checkpoint's own experts through the engines: within the arithmetic's bounds of float64 and of outputs that came with
 * the checkpoint, and through pools of several sizes to the last bit. As many layers as fit a memory budget, spread from
 * first to last.
 */
public final class CheckpointVerification {
    /** Bounds on the relative error of a layer's outputs and of single lanes. */
    static final double CHAIN_BOUND = 5e-3;

    static final double LANE_BOUND = 1e-2;

    /** Golden inputs are fp32: rounding them to bf16 is no error of the chain, but moves its outputs. */
    static final double GOLDEN_BOUND = 1e-2;

    /** Golden outputs were summed in fp32. */
    static final double FLOAT32_BOUND = 1e-5;

    private static final long MOST_BYTES = 512L << 20;
    private static final int TOKENS = 8;
    private static final int NO_EXPERT = -1;

    /**
     * One thing looked at.
     *
     * @param calls layer calls
     * @param promoted rows that pools promoted, and below those they staged
     * @param result what came out
     * @param holds whether it is as it must be
     */
    public record Finding(
            String name, long calls, long promoted, long staged, double seconds, String result, boolean holds) {}

    private final ModelGeometry model;
    private final HostSource source;
    private final List<MoeCalls> seeded; // by loaded layer
    private final List<MoeCalls> golden; // likewise; empty where none came with the checkpoint
    private final Consumer<Finding> found;

    private CheckpointVerification(
            ModelGeometry model,
            HostSource source,
            List<MoeCalls> seeded,
            List<MoeCalls> golden,
            Consumer<Finding> found) {
        this.model = model;
        this.source = source;
        this.seeded = seeded;
        this.golden = golden;
        this.found = found;
    }

    /** Verifies a checkpoint with the Java engines, telling of each finding as it is there. */
    public static void java(Path folder, long seed, Consumer<Finding> found) throws IOException {
        Checkpoint checkpoint = Models.open(folder);
        ModelGeometry model = checkpoint.geometry();
        List<Integer> layers = spread(model, MOST_BYTES);
        long start = System.nanoTime();
        LoadedExperts loaded = new ExpertLoader(checkpoint, new HostConversion(ExpertPacker.DEFAULT))
                .load(layers, SlabAllocator.DIRECT, count -> {});
        found.accept(new Finding(
                layers.size() + " of " + model.layers() + " layers loaded, relative loss of block scales",
                0,
                0,
                0,
                seconds(start),
                String.format(Locale.ROOT, "%.1e", loaded.loss().relativeError()),
                true));
        List<MoeCalls> golden = new ArrayList<>();
        for (int layer : layers) {
            if (GoldenCalls.areThere(folder)) {
                golden.add(GoldenCalls.read(folder, model, checkpoint.layerNumber(layer)));
            }
        }
        List<MoeCalls> seeded = layers.stream()
                .map(layer -> MoeCalls.seeded(TOKENS, model.topK(), model.experts(), model.hidden(), seed + layer))
                .toList();
        CheckpointVerification verification = new CheckpointVerification(model, loaded.source(), seeded, golden, found);
        MoeEngine resident = new ResidentEngine(loaded.source(), model.topK());
        verification.arithmetic("resident", resident);
        verification.pools(resident);
    }

    /** Layers from first to last, evenly, whose rows take no more than so many bytes; at least one. */
    static List<Integer> spread(ModelGeometry model, long mostBytes) {
        int count = (int) Math.max(1, Math.min(model.layers(), mostBytes / model.layerBytes()));
        return IntStream.range(0, count)
                .map(i -> count == 1 ? 0 : (int) ((long) i * (model.layers() - 1) / (count - 1)))
                .boxed()
                .toList();
    }

    /** Holds an engine's outputs to float64 on the same rounded inputs, and to the outputs that came along. */
    private void arithmetic(String engine, MoeEngine subject) {
        Float64Layer oracle = new Float64Layer(source, model.topK());
        bounded(engine + ", chain against float64", CHAIN_BOUND, layer -> {
            MoeCalls calls = seeded.get(layer);
            return error(subject, layer, calls, exact(oracle, layer, calls));
        });
        bounded(engine + ", single lanes against float64", LANE_BOUND, layer -> {
            double worst = 0;
            for (int token = 0; token < TOKENS; token++) {
                MoeCalls call = seeded.get(layer).slice(token, token + 1);
                Arrays.fill(call.ids(), 1, call.ids().length, NO_EXPERT);
                worst = Math.max(worst, error(subject, layer, call, exact(oracle, layer, call)));
            }
            return worst;
        });
        if (!golden.isEmpty()) {
            bounded("float64 against golden outputs", FLOAT32_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                double[] inputs = new double[calls.inputs().length];
                Arrays.setAll(inputs, i -> calls.inputs()[i]);
                double[] exact = oracle.forward(layer, inputs, calls.ids(), calls.weights());
                return MoeCalls.relativeError(exact, calls.expected());
            });
            bounded(engine + ", golden inputs in bf16 against float64", CHAIN_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                return error(subject, layer, calls, exact(oracle, layer, calls));
            });
            bounded(engine + ", golden outputs, inputs' rounding included", GOLDEN_BOUND, layer -> {
                MoeCalls calls = golden.get(layer);
                return error(subject, layer, calls, calls.expected());
            });
        }
    }

    private interface LayerError {
        double of(int layer);
    }

    private void bounded(String name, double bound, LayerError error) {
        long start = System.nanoTime();
        double worst = 0;
        for (int layer = 0; layer < source.layers(); layer++) {
            double here = error.of(layer);
            worst = here <= worst ? worst : here; // NaN stays
        }
        String result = String.format(Locale.ROOT, "%.1e of at most %.0e", worst, bound);
        found.accept(new Finding(name, source.layers(), 0, 0, seconds(start), result, worst <= bound));
    }

    private static double error(MoeEngine subject, int layer, MoeCalls calls, double[] expected) {
        short[] outputs = subject.forward(layer, calls.activations(), calls.ids(), calls.weights());
        return MoeCalls.relativeError(MoeCalls.widen(outputs), expected);
    }

    private static double[] exact(Float64Layer oracle, int layer, MoeCalls calls) {
        return oracle.forward(layer, calls.roundedInputs(), calls.ids(), calls.weights());
    }

    /** Pools of several sizes: token by token as decode does, then all tokens of a layer in one call. */
    private void pools(MoeEngine resident) {
        IntStream.of(model.topK(), model.experts() / 4, model.experts() / 2, model.experts() - 1)
                .filter(rows -> rows >= model.topK() && rows < model.experts())
                .distinct()
                .forEach(rows -> pool(rows, resident));
    }

    private void pool(int rows, MoeEngine resident) {
        long start = System.nanoTime();
        PoolConfig config = new PoolConfig(source.layers(), source.experts(), model.topK(), rows, 1);
        ExpertPool pool = ExpertPool.installPoisoned(PoolRequest.onHost(config, source));
        pool.openGate();
        CallTally tally = new CallTally();
        tally.begin();
        PoolEngine subject = new PoolEngine(pool, tally);
        long calls = 0;
        String result = "equal";
        for (int layer = 0; layer < source.layers() && result.equals("equal"); layer++) {
            for (int token = 0; token <= TOKENS; token++) {
                MoeCalls call =
                        token == TOKENS ? seeded.get(layer) : seeded.get(layer).slice(token, token + 1);
                int at = Arrays.mismatch(forward(subject, layer, call), forward(resident, layer, call));
                result = at < 0 ? result : "differs: layer " + layer + ", output value " + at;
                calls++;
            }
        }
        pool.synchronise();
        pool.check(RowCheck.SAMPLED);
        found.accept(new Finding(
                "pool = resident, N=" + rows,
                calls,
                tally.promoted(),
                tally.staged(),
                seconds(start),
                result,
                result.equals("equal")));
    }

    private static short[] forward(MoeEngine engine, int layer, MoeCalls calls) {
        return engine.forward(layer, calls.activations(), calls.ids(), calls.weights());
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) * 1e-9;
    }
}
