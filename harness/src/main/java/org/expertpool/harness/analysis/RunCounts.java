package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.expertpool.harness.sim.FirstTouches;
import org.expertpool.harness.sim.ObservedRun;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** The counts of one run: in all, by layer, by sequence, over time and by the distance from a sequence's start. */
final class RunCounts implements StepObserver {
    private static final int FORWARDS_ALONE = 16;

    final String policy;
    final PolicySetup setup;
    final PoolConfig pool;
    final Counts all;
    final List<Counts> layers = new ArrayList<>();
    final List<Counts> sequences = new ArrayList<>();
    final List<Counts> stretches = new ArrayList<>(); // numbered by their first forward
    final SortedMap<Long, Counts> positions = new TreeMap<>(); // numbered by planned forwards since a sequence's start

    long wideForwards;

    final FirstTouches touches;

    private final int maxSelected;
    private final int stretchForwards;
    private boolean scored;
    private long sequence = -1;
    private long sinceStart; // planned forwards of the sequence before this one
    private Counts position;

    RunCounts(ObservedRun run, int stretchForwards) {
        policy = run.policyName();
        setup = run.setup();
        pool = setup.pool();
        maxSelected = run.maxSelected();
        this.stretchForwards = stretchForwards;
        all = new Counts(0, maxSelected);
        for (int layer = 0; layer < pool.layers(); layer++) {
            layers.add(new Counts(layer, maxSelected));
        }
        touches = new FirstTouches(pool);
    }

    /** Runs the policy and counts. */
    static RunCounts of(ObservedRun run, int stretchForwards, List<? extends StepObserver> others) {
        RunCounts counts = new RunCounts(run, stretchForwards);
        List<StepObserver> observers = new ArrayList<>(others);
        observers.add(counts);
        observers.add(counts.touches);
        run.run(observers);
        return counts;
    }

    @Override
    public void forward(long forward, long ofSequence, boolean startsSequence, int tokens, boolean isScored) {
        scored = isScored;
        sinceStart = ofSequence == sequence ? sinceStart + 1 : 0;
        sequence = ofSequence;
        if (!scored) {
            return;
        }
        all.forward(startsSequence, tokens);
        last(sequences, sequence).forward(startsSequence, tokens);
        last(stretches, forward - forward % stretchForwards).forward(startsSequence, tokens);
        position = positions.computeIfAbsent(step(sinceStart), first -> new Counts(first, maxSelected));
        position.forward(startsSequence, tokens);
    }

    /** The first of the forwards that share a line with this one: each alone at first, then ever more of them. */
    private static long step(long forwards) {
        long width = Math.max(1, Long.highestOneBit(forwards) / FORWARDS_ALONE);
        return forwards - forwards % width;
    }

    private Counts last(List<Counts> parts, long number) {
        if (parts.isEmpty() || parts.get(parts.size() - 1).number != number) {
            parts.add(new Counts(number, maxSelected));
        }
        return parts.get(parts.size() - 1);
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        if (scored) {
            all.step(event, tally);
            layers.get(event.layer).step(event, tally);
            sequences.get(sequences.size() - 1).step(event, tally);
            stretches.get(stretches.size() - 1).step(event, tally);
            position.step(event, tally);
        }
    }

    @Override
    public void wide(long forward, boolean isScored) {
        wideForwards += isScored ? 1 : 0;
    }

    /** What warnings are about. */
    Warnings.Run summary() {
        return new Warnings.Run(
                policy,
                setup.scope().toString(),
                pool.rows(),
                pool.residentPerLayer(),
                pool.topK(),
                all.forwards,
                wideForwards,
                all.selections(),
                all.misses(),
                all.promoted + all.exchanged);
    }
}
