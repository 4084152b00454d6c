package org.expertpool.harness.sim;

import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** Looks on while a policy goes through a trace; sees planned forwards alone, but for a note of each wide one. */
public interface StepObserver {
    /** Before the first event, and each time placement returned to its start. */
    default void placed(PlacementPolicy policy) {}

    /**
     * A planned forward begins; its steps follow, layer by layer.
     *
     * @param sequence number of its sequence, from 0
     * @param startsSequence whether it is the first forward of its sequence
     * @param tokens tokens of the forward
     * @param scored whether it counts
     */
    default void forward(long forward, long sequence, boolean startsSequence, int tokens, boolean scored) {}

    /** A step of that forward and what the policy did; both objects are reused. */
    void step(RoutingEvent event, StepTally tally);

    /** A forward wider than the planner, which changes no placement. */
    default void wide(long forward, boolean scored) {}
}
