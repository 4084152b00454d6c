package org.expertpool.harness.stats;

import java.util.function.Consumer;

/** Gathers something from routing events of one token each, in trace order, and reports it at the end. */
interface Accumulator {
    /**
     * Takes one event.
     *
     * @param forward index of the forward in the trace
     * @param startsSequence whether the forward is the first of its sequence
     * @param ids the token's experts in {@code ids[0 .. topK - 1]}, distinct
     */
    void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK);

    /** Reports what the trace was long enough for. */
    void report(Consumer<Statistic> target);
}
