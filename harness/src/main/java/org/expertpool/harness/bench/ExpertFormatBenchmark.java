package org.expertpool.harness.bench;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.expertpool.pool.format.Nvfp4Quantiser;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.WeightRepack;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Time to quantise and to repack the gate-up matrix of one Qwen3.8-Flash-Next expert, [1280, 2560], on one core. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class ExpertFormatBenchmark {
    private static final int OUTPUTS = 1280;
    private static final int INPUTS = 2560;
    private static final long SEED = 1;

    private float[] weights;
    private byte[] packedCodes;

    @Setup
    public void makeWeights() {
        SplittableRandom random = new SplittableRandom(SEED);
        weights = new float[OUTPUTS * INPUTS];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (float) random.nextDouble(-0.1, 0.1);
        }
        packedCodes = quantise().codes();
    }

    @Benchmark
    public Nvfp4Tensor quantise() {
        return Nvfp4Quantiser.quantise(weights, OUTPUTS, INPUTS);
    }

    @Benchmark
    public int[] repack() {
        return WeightRepack.repack(packedCodes, OUTPUTS, INPUTS);
    }
}
