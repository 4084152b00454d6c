package org.expertpool.harness.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * Routing for benchmarks: 512 forwards of 48 layers x 512 experts, top-10, nine in ten selections from a working set of 200
 * experts of each layer, which 258 rows per layer hold, so that misses come from the others. As events and as a trace.
 */
final class WorkingSetTrace {
    static final int LAYERS = 48;
    static final int EXPERTS = 512;
    static final int TOP_K = 10;
    static final int ROWS = 258;
    static final int FORWARDS = 512;
    static final int SELECTIONS = FORWARDS * LAYERS * TOP_K;

    private static final int WORKING_SET = 200;
    private static final double OUTSIDE_SHARE = 0.1;

    final List<RoutingEvent> events = new ArrayList<>();
    final InMemoryTrace trace;
    final int[] firstUse = new int[LAYERS * EXPERTS]; // by key: number of the event that selects it first, or NEVER

    WorkingSetTrace() {
        SplittableRandom random = new SplittableRandom(1);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(
                new TraceShape(LAYERS, EXPERTS, TOP_K, false), "working set of " + WORKING_SET + ", seed 1");
        for (int forward = 0; forward < FORWARDS; forward++) {
            int[] ids = new int[LAYERS * TOP_K];
            for (int layer = 0; layer < LAYERS; layer++) {
                int[] experts = random.ints(0, EXPERTS)
                        .map(id -> random.nextDouble() < OUTSIDE_SHARE ? id : EXPERTS - 1 - id % WORKING_SET)
                        .distinct()
                        .limit(TOP_K)
                        .toArray();
                System.arraycopy(experts, 0, ids, layer * TOP_K, TOP_K);
                events.add(event(layer, experts));
            }
            builder.decode(forward == 0, forward, ids);
        }
        trace = builder.build();
        foretell();
    }

    /** Next uses within the pass, for clairvoyant policies. */
    private void foretell() {
        Arrays.fill(firstUse, RoutingEvent.NEVER);
        for (int number = events.size() - 1; number >= 0; number--) {
            RoutingEvent event = events.get(number);
            for (int i = 0; i < event.size; i++) {
                int key = event.layer * EXPERTS + event.experts[i];
                event.nextUse[i] = firstUse[key];
                firstUse[key] = number;
            }
        }
    }

    private static RoutingEvent event(int layer, int[] experts) {
        RoutingEvent event = new RoutingEvent(TOP_K);
        event.layer = layer;
        event.size = TOP_K;
        System.arraycopy(experts, 0, event.experts, 0, TOP_K);
        for (int i = 0; i < TOP_K; i++) {
            event.weights[i] = 2f * (TOP_K - i) / (TOP_K * (TOP_K + 1));
        }
        return event;
    }
}
