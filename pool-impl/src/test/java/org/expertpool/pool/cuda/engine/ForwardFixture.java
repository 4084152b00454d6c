package org.expertpool.pool.cuda.engine;

import java.util.Random;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;

/** A tiny model on the emulated driver, tapes for it, and what must come out by the Java engine and planner. */
final class ForwardFixture {
    static final int LAYERS = 3;
    static final int EXPERTS = 7;
    static final int TOP_K = 2;
    static final int INPUTS = 2;
    static final long SEED = 11;
    static final int FORWARDS = 4;

    final DeviceModel model;

    ForwardFixture(CudaContext context) {
        SyntheticExperts experts = new SyntheticExperts(5, LAYERS, EXPERTS, new ExpertRowLayout(64, 64));
        try (CudaContext.Attempt all = context.attempt()) {
            model = DeviceModel.of(
                    context, PinnedSource.load(context, memory -> experts.hostSource(memory, layer -> {})), TOP_K);
            all.succeeded();
        }
    }

    PoolConfig config(int rows) {
        return new PoolConfig(LAYERS, EXPERTS, TOP_K, rows, 2);
    }

    /** Random experts, distinct within a token, now and then a padding lane. */
    static RoutingTape tape(int tokens) {
        Random random = new Random(tokens);
        int lanes = tokens * TOP_K;
        int[] ids = new int[FORWARDS * LAYERS * lanes];
        float[] weights = new float[ids.length];
        for (int lane = 0; lane < ids.length; lane += TOP_K) {
            ids[lane] = random.nextInt(EXPERTS);
            ids[lane + 1] = random.nextInt(9) == 0 ? -1 : (ids[lane] + 1 + random.nextInt(EXPERTS - 1)) % EXPERTS;
            weights[lane] = random.nextFloat();
            weights[lane + 1] = random.nextFloat();
        }
        return new RoutingTape(FORWARDS, LAYERS, lanes, ids, weights);
    }

    /** The hash that a forward must have, from the Java engine's outputs by the definition of the hash. */
    long expectedHash(RoutingTape tape, int forward) {
        int tokens = tape.lanes() / TOP_K;
        int hidden = model.shape().row().hidden();
        short[] activations = new short[INPUTS * tokens * hidden];
        Random random = new Random(SEED);
        for (int i = 0; i < activations.length; i++) {
            activations[i] = Bf16.fromFloat((float) random.nextGaussian());
        }
        ResidentEngine engine = new ResidentEngine(model.source(), TOP_K);
        long hash = 0;
        for (int layer = 0; layer < LAYERS; layer++) {
            short[] input = new short[tokens * hidden];
            System.arraycopy(activations, layer % INPUTS * input.length, input, 0, input.length);
            int[] ids = new int[tape.lanes()];
            float[] weights = new float[tape.lanes()];
            System.arraycopy(tape.ids(), tape.at(forward, layer), ids, 0, ids.length);
            System.arraycopy(tape.weights(), tape.at(forward, layer), weights, 0, ids.length);
            hash = mix(hash ^ sum(engine.forward(layer, input, ids, weights)));
        }
        return hash;
    }

    /** The reference planner after so many forwards of the tape. */
    ReferencePlanner replay(PoolConfig config, PoolControls controls, RoutingTape tape, int forwards) {
        ReferencePlanner planner = new ReferencePlanner(config);
        planner.controls(controls);
        for (int forward = 0; forward < forwards; forward++) {
            for (int layer = 0; layer < LAYERS; layer++) {
                int[] ids = new int[tape.lanes()];
                float[] weights = new float[tape.lanes()];
                System.arraycopy(tape.ids(), tape.at(forward % tape.forwards(), layer), ids, 0, ids.length);
                System.arraycopy(tape.weights(), tape.at(forward % tape.forwards(), layer), weights, 0, ids.length);
                planner.step(layer, ids, weights, ids.length);
            }
        }
        return planner;
    }

    private static long sum(short[] outputs) {
        long sum = 0;
        for (int word = 0; word < outputs.length / 2; word++) {
            long bits = (outputs[2 * word] & 0xFFFFL) | (outputs[2 * word + 1] & 0xFFFFL) << 16;
            sum ^= mix((long) word << 32 | bits);
        }
        return sum;
    }

    private static long mix(long value) {
        long x = value + 0x9e3779b97f4a7c15L;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }
}
