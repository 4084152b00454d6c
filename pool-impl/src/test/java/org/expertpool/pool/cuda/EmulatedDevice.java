package org.expertpool.pool.cuda;

import java.util.Arrays;
import java.util.Random;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;

/** What the child JVM of {@link DevicePlannerTest} runs: the device planner beside the reference. */
final class EmulatedDevice {
    private EmulatedDevice() {}

    public static void main(String[] arguments) {
        DevicePlanner.Launch launch = DevicePlanner.Launch.valueOf(arguments[0]);
        try (CudaContext context = CudaContext.open()) {
            CudaEvent start = new CudaEvent(context);
            CudaEvent end = new CudaEvent(context);
            try (CudaStream stream = new CudaStream(context)) {
                start.record(stream);
                end.record(stream);
                System.out.println(context.driverKind() + " " + end.microsecondsSince(start));
            }
            long steps = 0;
            steps += compare(context, new PoolConfig(3, 8, 2, 3, 2), launch, 60);
            steps += compare(context, new PoolConfig(5, 13, 3, 3, 7), launch, 60);
            steps += compare(context, new PoolConfig(2, 96, 8, 40, 8), launch, 40);
            System.out.println(steps + " steps equal");
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private static long compare(CudaContext context, PoolConfig config, DevicePlanner.Launch launch, int steps) {
        Random random = new Random(config.experts());
        ReferencePlanner expected = new ReferencePlanner(config);
        try (DevicePlanner actual = new DevicePlanner(context, config, launch)) {
            require(expected.swap(1, 0, config.experts() - 1) == actual.swap(1, 0, config.experts() - 1), "swap");
            for (int step = 0; step < steps; step++) {
                if (step % 9 == 2) {
                    PoolControls next = new PoolControls(
                            step % 5 == 0 ? 0 : 1, random.nextInt(3), 1 + random.nextInt(2), 1, random.nextInt(2));
                    expected.controls(next);
                    actual.controls(next);
                }
                if (step % 11 == 10) {
                    expected.clearError();
                    actual.clearError();
                }
                int lanes = random.nextInt(config.stagingRows() + 1);
                int[] ids = random.ints(lanes, -2, config.experts() + 1).toArray();
                float[] weights = new float[lanes];
                for (int lane = 0; lane < lanes; lane++) {
                    weights[lane] = random.nextInt(20) == 0 ? -1f : random.nextFloat();
                }
                int layer = step % config.layers();
                require(
                        same(expected.step(layer, ids, weights, lanes), actual.step(layer, ids, weights, lanes)),
                        "plan");
                require(expected.tables().sha256().equals(actual.tables().sha256()), "tables");
                require(expected.tables().clock() == actual.tables().clock(), "clock");
                require(expected.tables().forwards() == actual.tables().forwards(), "forwards");
                require(expected.tables().error() == actual.tables().error(), "error");
            }
        }
        return steps;
    }

    private static boolean same(StepPlan expected, StepPlan actual) {
        boolean same = expected.promoted() == actual.promoted()
                && expected.staged() == actual.staged()
                && expected.selected() == actual.selected()
                && expected.lanes() == actual.lanes()
                && Arrays.equals(expected.stepMap(), actual.stepMap());
        for (int copy = 0; same && copy < expected.copies(); copy++) {
            same = expected.copyExpert(copy) == actual.copyExpert(copy)
                    && expected.copyRow(copy) == actual.copyRow(copy);
        }
        for (int lane = 0; same && lane < expected.lanes(); lane++) {
            same = expected.routes()[lane] == actual.routes()[lane]
                    && expected.safeIds()[lane] == actual.safeIds()[lane];
        }
        return same;
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " differs");
        }
    }
}
