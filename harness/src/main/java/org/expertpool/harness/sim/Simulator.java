package org.expertpool.harness.sim;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;

/**
 * Replays a trace through policies: the exact planner semantics without bytes. Each policy walks through the trace on its
 * own, all its row counts side by side, and several policies at once where there are cores; no result depends on how many.
 * Memory does not grow with the trace, unless a clairvoyant policy is among them.
 */
public final class Simulator {
    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final List<PolicyRun> results = new ArrayList<>();
    private final List<Walk> walks = new ArrayList<>();

    private Simulator(RoutingTrace trace, SimulationRequest request) {
        this.trace = trace;
        this.request = request;
        addWalks();
    }

    /**
     * Simulates every (policy, rows) pair of the request on all cores.
     *
     * @return a result per pair, policies in the order asked for, rows within
     */
    public static List<SimulationResult> simulate(RoutingTrace trace, SimulationRequest request) {
        return simulate(trace, request, Runtime.getRuntime().availableProcessors());
    }

    /** As {@link #simulate(RoutingTrace, SimulationRequest)}, on so many threads. */
    public static List<SimulationResult> simulate(RoutingTrace trace, SimulationRequest request, int threads) {
        Simulator simulator = new Simulator(trace, request);
        simulator.run(Math.min(threads, simulator.walks.size()));
        return simulator.results.stream().map(PolicyRun::result).collect(Collectors.toList());
    }

    /** Clairvoyant policies share one walk, the first and longest, since they share what is read ahead. */
    private void addWalks() {
        PoolControls controls = PoolControls.DEFAULTS.withGate(true).with(request.controls());
        List<PoolConfig> pools = pools();
        TraceKnowledge knowledge = new TraceKnowledge(trace, request);
        List<PolicyRun> clairvoyant = new ArrayList<>();
        for (PolicyKind kind : kinds()) {
            List<PolicyRun> runs = new ArrayList<>();
            boolean seesFuture = false;
            for (PoolConfig pool : pools) {
                PolicySetup setup = knowledge.setup(kind, pool, controls);
                seesFuture = setup.firstUse().isPresent();
                runs.add(new PolicyRun(kind, setup));
            }
            results.addAll(runs);
            if (seesFuture) {
                clairvoyant.addAll(runs);
            } else {
                walks.add(new Walk(trace, request, runs, Optional.empty()));
            }
        }
        knowledge.requireProfileUsed();
        if (!clairvoyant.isEmpty()) {
            walks.add(0, new Walk(trace, request, clairvoyant, knowledge.future()));
        }
    }

    private List<PoolConfig> pools() {
        TraceShape shape = trace.shape();
        List<PoolConfig> pools = new ArrayList<>();
        for (int rows : request.rows()) {
            PoolConfig pool =
                    new PoolConfig(shape.layers(), shape.experts(), shape.topK(), rows, request.decodeTokens());
            if (pools.contains(pool)) {
                throw new BadInputException("rows: " + rows + " is given twice");
            }
            pools.add(pool);
        }
        return pools;
    }

    private List<PolicyKind> kinds() {
        List<PolicyKind> kinds = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (String name : request.policies()) {
            PolicyKind kind = Policies.named(name);
            if (!names.add(kind.fullName())) {
                throw new BadInputException("policy " + kind.fullName() + " is given twice");
            }
            kinds.add(kind);
        }
        return kinds;
    }

    private void run(int threads) {
        if (threads <= 1) {
            walks.forEach(Walk::run);
            return;
        }
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> running = new ArrayList<>();
            walks.forEach(walk -> running.add(workers.submit(walk)));
            for (Future<?> walk : running) {
                walk.get();
            }
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException("a simulation failed", failure.getCause());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while simulating", stop);
        } finally {
            workers.shutdownNow();
        }
    }
}
