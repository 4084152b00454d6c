package org.expertpool.harness.sim;

import java.util.Arrays;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Walks a trace event by event as the planner sees it: distinct valid experts of a layer in the order of first occurrence
 * (pool-semantics 4.1 and 4.2). Says of each forward whether it is wider than the planner.
 */
final class EventReader {
    private final TraceShape shape;
    private final ForwardCursor cursor;
    private final int plannerLanes;
    private final RoutingEvent event;
    private final int[] seenAt; // [E] number of the event that last held the expert
    private int eventNumber;
    private int[] ids; // [lanes]
    private float[] weights; // [lanes]
    private long sequence = -1;
    private boolean startsSequence;

    /** @param plannerLanes S: wider forwards take the partition path */
    EventReader(RoutingTrace trace, int plannerLanes) {
        shape = trace.shape();
        cursor = trace.cursor();
        this.plannerLanes = plannerLanes;
        event = new RoutingEvent(shape.experts());
        seenAt = new int[shape.experts()];
        ids = new int[plannerLanes];
        weights = new float[plannerLanes];
        Arrays.fill(event.weights, 1f);
    }

    /** Moves to the next forward; false at the end of the trace. */
    boolean nextForward() {
        if (!cursor.next()) {
            return false;
        }
        startsSequence = sequence < 0 || cursor.startsSequence();
        if (startsSequence) {
            sequence++;
        }
        int lanes = cursor.tokens() * shape.topK();
        if (lanes > ids.length) {
            ids = new int[lanes];
            weights = new float[lanes];
        }
        return true;
    }

    long forward() {
        return cursor.forward();
    }

    /** Number of the current forward's sequence, from 0. */
    long sequence() {
        return sequence;
    }

    boolean startsSequence() {
        return startsSequence;
    }

    /** Tokens of the current forward. */
    int tokens() {
        return cursor.tokens();
    }

    /** Whether the current forward has more lanes than the planner. */
    boolean isWide() {
        return cursor.tokens() * shape.topK() > plannerLanes;
    }

    /** The event of one layer of the current forward; the same object each time. */
    RoutingEvent read(int layer) {
        int lanes = cursor.ids(layer, ids);
        if (shape.weighted()) {
            cursor.weights(layer, weights);
        }
        int number = ++eventNumber;
        if (number == 0) { // the numbers went round: forget the old ones
            Arrays.fill(seenAt, 0);
            number = ++eventNumber;
        }
        int size = 0;
        for (int lane = 0; lane < lanes; lane++) {
            int expert = ids[lane];
            if (!isValid(lane, expert) || seenAt[expert] == number) {
                continue;
            }
            seenAt[expert] = number;
            event.experts[size] = expert;
            if (shape.weighted()) {
                event.weights[size] = weights[lane];
            }
            size++;
        }
        event.layer = layer;
        event.size = size;
        return event;
    }

    private boolean isValid(int lane, int expert) {
        boolean inRange = expert >= 0 && expert < shape.experts();
        return inRange && (!shape.weighted() || (weights[lane] >= 0 && weights[lane] <= Float.MAX_VALUE));
    }
}
