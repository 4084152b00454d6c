package org.expertpool.harness.verify;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.plan.PoolConfig;

/** The device planner beside the reference at many shapes, each shape by a thread with a context of its own. */
public final class PlannerConformance {
    /** One comparison. */
    public record Case(String name, PoolConfig config, DevicePlanner.Launch launch, long steps, long seed) {}

    /** What came of it, on whose driver, in how many seconds. */
    public record Result(Case subject, DriverKind driverKind, Verification.Outcome outcome, double seconds) {}

    private PlannerConformance() {}

    /**
     * Runs all cases, so many at a time.
     *
     * @param ended told of each case as it ends, one at a time, in the order in which they end
     * @return in the order of the cases
     */
    public static List<Result> run(List<Case> cases, int threads, Consumer<Result> ended) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Result>> running = new ArrayList<>();
            for (Case each : cases) {
                running.add(pool.submit(() -> {
                    Result result = run(each);
                    synchronized (running) {
                        ended.accept(result);
                    }
                    return result;
                }));
            }
            List<Result> results = new ArrayList<>();
            for (Future<Result> each : running) {
                results.add(each.get());
            }
            return results;
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failure.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("verification was interrupted", interrupted);
        } finally {
            pool.shutdownNow();
        }
    }

    private static Result run(Case subject) {
        long start = System.nanoTime();
        try (CudaContext context = CudaContext.open();
                DevicePlanner planner = new DevicePlanner(context, subject.config(), subject.launch())) {
            Verification.Outcome outcome = Verification.againstReference(planner, subject.steps(), subject.seed());
            return new Result(subject, context.driverKind(), outcome, (System.nanoTime() - start) * 1e-9);
        }
    }
}
