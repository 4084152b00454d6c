package org.expertpool.harness.sim;

import java.util.Arrays;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * The next use of every selection of a trace, read ahead: what clairvoyant policies know. Planned events alone count;
 * a forward on the partition path changes no placement. Takes four bytes per selection of the whole trace or, where
 * sequences are apart, of the longest sequence.
 */
final class FutureIndex {
    private static final long NONE = -1;

    private final TraceShape shape;
    private final EventReader ahead;
    private final boolean bySequence;
    private final IntChunks nextUse = new IntChunks(); // of each selection, in the order of the trace
    private final int[] firstUse; // [L*E]
    private final long[] latest; // [L*E] the key's latest selection so far
    private boolean pending; // the reader stands on a forward that is not indexed yet
    private int events;
    private long position; // of the event that is filled next

    /** @param bySequence whether placement returns to its start at each sequence, so that no use lies beyond its end */
    FutureIndex(RoutingTrace trace, int plannerLanes, boolean bySequence) {
        shape = trace.shape();
        ahead = new EventReader(trace, plannerLanes);
        this.bySequence = bySequence;
        firstUse = new int[shape.layers() * shape.experts()];
        latest = new long[firstUse.length];
        pending = ahead.nextForward();
    }

    /** Reads the next sequence or, where they are not apart, the whole trace; fails if the heap does not hold it. */
    void readAhead() {
        try {
            index();
        } catch (OutOfMemoryError full) {
            long selections = nextUse.size();
            nextUse.clear();
            throw new IllegalStateException(
                    "clairvoyant policies need 4 bytes per selection ahead, and the Java heap of "
                            + (Runtime.getRuntime().maxMemory() >> 20) + " MiB is full after " + selections
                            + " selections: give Java more (-Xmx) or leave belady out",
                    full);
        }
    }

    private void index() {
        nextUse.clear();
        Arrays.fill(firstUse, RoutingEvent.NEVER);
        Arrays.fill(latest, NONE);
        events = 0;
        position = 0;
        while (pending) {
            if (!ahead.isWide()) {
                for (int layer = 0; layer < shape.layers(); layer++) {
                    add(ahead.read(layer));
                }
            }
            pending = ahead.nextForward();
            if (bySequence && pending && ahead.startsSequence()) {
                return;
            }
        }
    }

    private void add(RoutingEvent event) {
        int number = events++;
        if (number == RoutingEvent.NEVER) {
            throw new BadInputException(
                    "trace: more than " + number + " planned events, too many for a clairvoyant policy");
        }
        for (int i = 0; i < event.size; i++) {
            int key = event.layer * shape.experts() + event.experts[i];
            if (latest[key] == NONE) {
                firstUse[key] = number;
            } else {
                nextUse.set(latest[key], number);
            }
            latest[key] = nextUse.size();
            nextUse.add(RoutingEvent.NEVER);
        }
    }

    /** Number of the first event read ahead that selects the key, or {@link RoutingEvent#NEVER}. */
    int firstUse(int key) {
        return firstUse[key];
    }

    /** Fills in the next uses of an event; events come in the order in which they were read ahead. */
    void fill(RoutingEvent event) {
        for (int i = 0; i < event.size; i++) {
            event.nextUse[i] = nextUse.get(position++);
        }
    }
}
