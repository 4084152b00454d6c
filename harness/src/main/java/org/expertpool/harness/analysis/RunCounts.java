package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.expertpool.harness.sim.ObservedRun;
import org.expertpool.harness.sim.StepObserver;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** The counts of one run: in all, by layer, by sequence and over time. */
final class RunCounts implements StepObserver {
    final String policy;
    final PolicySetup setup;
    final PoolConfig pool;
    final Counts all;
    final List<Counts> layers = new ArrayList<>();
    final List<Counts> sequences = new ArrayList<>();
    final List<Counts> stretches = new ArrayList<>(); // numbered by their first forward
    long wideForwards;

    /** Scored first selections of experts that were not resident at the start: misses of every policy without prefetch. */
    long compulsory;

    private final int maxSelected;
    private final int stretchForwards;
    private final boolean[] resident; // [L*E] at the start
    private final boolean[] touched; // [L*E] since the start
    private boolean scored;

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
        resident = new boolean[pool.keys()];
        touched = new boolean[pool.keys()];
    }

    /** Runs the policy and counts. */
    static RunCounts of(ObservedRun run, int stretchForwards, List<? extends StepObserver> others) {
        RunCounts counts = new RunCounts(run, stretchForwards);
        List<StepObserver> observers = new ArrayList<>(others);
        observers.add(counts);
        run.run(observers);
        return counts;
    }

    @Override
    public void placed(PlacementPolicy placed) {
        Arrays.fill(touched, false);
        for (int key = 0; key < resident.length; key++) {
            resident[key] = placed.isResident(key / pool.experts(), key % pool.experts());
        }
    }

    @Override
    public void forward(long forward, long sequence, boolean startsSequence, int tokens, boolean isScored) {
        scored = isScored;
        if (!scored) {
            return;
        }
        all.forward(startsSequence, tokens);
        last(sequences, sequence).forward(startsSequence, tokens);
        last(stretches, forward - forward % stretchForwards).forward(startsSequence, tokens);
    }

    private Counts last(List<Counts> parts, long number) {
        if (parts.isEmpty() || parts.get(parts.size() - 1).number != number) {
            parts.add(new Counts(number, maxSelected));
        }
        return parts.get(parts.size() - 1);
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        for (int i = 0; i < event.size; i++) {
            int key = event.layer * pool.experts() + event.experts[i];
            compulsory += scored && !touched[key] && !resident[key] ? 1 : 0;
            touched[key] = true;
        }
        if (scored) {
            all.step(event, tally);
            layers.get(event.layer).step(event, tally);
            sequences.get(sequences.size() - 1).step(event, tally);
            stretches.get(stretches.size() - 1).step(event, tally);
        }
    }

    @Override
    public void wide(long forward, boolean isScored) {
        wideForwards += isScored ? 1 : 0;
    }
}
