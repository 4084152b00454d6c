package org.expertpool.harness.sim;

import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/**
 * What no policy without prefetch can better at one number of rows, in scored misses.
 *
 * @param compulsory first selections of experts that were not resident at the start
 * @param bypass Belady's, where a miss need not take a row
 * @param forced Belady's, where each miss must
 */
public record Bounds(long compulsory, long bypass, long forced) {
    /** Name of the bound with bypass. */
    public static final String BYPASS = "bound.belady";

    /** Name of the bound without. */
    public static final String FORCED = "bound.belady-forced";

    /** Both bounds with the rows given, the request's scope, start and scored part; its policies are not looked at. */
    public static Bounds of(RoutingTrace trace, SimulationRequest settings, int rows) {
        ObservedRun bypass = new ObservedRun(trace, settings, BYPASS, rows);
        FirstTouches touches = new FirstTouches(bypass.setup().pool());
        Misses bypassMisses = new Misses();
        bypass.run(List.of(touches, bypassMisses));
        Misses forcedMisses = new Misses();
        new ObservedRun(trace, settings, FORCED, rows).run(List.of(forcedMisses));
        return new Bounds(touches.count(), bypassMisses.count, forcedMisses.count);
    }

    private static final class Misses implements StepObserver {
        long count;
        private boolean scored;

        @Override
        public void forward(long forward, long sequence, boolean startsSequence, int tokens, boolean isScored) {
            scored = isScored;
        }

        @Override
        public void step(RoutingEvent event, StepTally tally) {
            count += scored ? tally.misses() : 0;
        }
    }

    /** The parts of so many misses. */
    public Gap gap(long misses) {
        return new Gap(compulsory, bypass - compulsory, forced - bypass, misses - forced);
    }
}
