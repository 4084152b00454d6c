package org.expertpool.harness.analysis;

import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/** Scored counts of one part of a run, in distinct experts per step. */
final class Counts {
    /** What the part is the number of: a layer, a sequence, or a stretch of forwards. */
    final long number;

    final StepHistogram steps;
    long forwards;
    long tokens;
    long sequenceStarts;
    long hits;
    long promoted;
    long staged;
    long exchanged;

    Counts(long number, int maxSelected) {
        this.number = number;
        steps = new StepHistogram(maxSelected);
    }

    void forward(boolean startsSequence, int tokensOfForward) {
        forwards++;
        tokens += tokensOfForward;
        sequenceStarts += startsSequence ? 1 : 0;
    }

    void step(RoutingEvent event, StepTally tally) {
        hits += tally.hits;
        promoted += tally.promoted;
        staged += tally.staged;
        exchanged += tally.exchanged;
        steps.add(event.size, (int) tally.misses());
    }

    long misses() {
        return promoted + staged;
    }

    long selections() {
        return hits + misses();
    }

    /** Hits over selections; null where nothing was selected. */
    Double hitRatio() {
        return per(hits, selections());
    }

    /** Experts brought into the bank per 100 selections; null where nothing was selected. */
    Double insertsPerHundred() {
        return per(100 * (promoted + exchanged), selections());
    }

    /** A quotient, null where there is nothing to divide by. */
    static Double per(long dividend, long divisor) {
        return divisor == 0 ? null : Double.valueOf((double) dividend / divisor);
    }
}
