package org.expertpool.pool.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;

/** Routing events for tests of policies, with all that a policy may ask to be told. */
record PolicyTrace(int layers, int experts, int topK, List<RoutingEvent> events) {
    PolicyTrace {
        events = List.copyOf(events);
    }

    /** Skewed, with repeats of recent experts, steps of all sizes up to top-k if {@code ragged}, and random weights. */
    static PolicyTrace random(long seed, int layers, int experts, int topK, int forwards, boolean ragged) {
        Random random = new Random(seed);
        List<RoutingEvent> events = new ArrayList<>();
        for (int step = 0; step < forwards * layers; step++) {
            int size = ragged ? random.nextInt(topK + 1) : topK;
            int span = random.nextInt(3) == 0 ? experts : Math.max(topK, experts / 2);
            int[] ids = random.ints(0, span).distinct().limit(size).toArray();
            RoutingEvent event = event(step % layers, ids);
            for (int i = 0; i < size; i++) {
                event.weights[i] = random.nextInt(9) / 8f;
            }
            events.add(event);
        }
        return new PolicyTrace(layers, experts, topK, events).foretold();
    }

    static RoutingEvent event(int layer, int... experts) {
        RoutingEvent event = new RoutingEvent(Math.max(1, experts.length));
        event.layer = layer;
        event.size = experts.length;
        System.arraycopy(experts, 0, event.experts, 0, experts.length);
        Arrays.fill(event.weights, 1f);
        return event;
    }

    /** Fills in the next uses. */
    PolicyTrace foretold() {
        Map<Integer, Integer> next = new HashMap<>();
        for (int number = events.size() - 1; number >= 0; number--) {
            RoutingEvent event = events.get(number);
            for (int i = 0; i < event.size; i++) {
                int key = event.layer * experts + event.experts[i];
                event.nextUse[i] = next.getOrDefault(key, RoutingEvent.NEVER);
                next.put(key, number);
            }
        }
        return this;
    }

    /** The same events with their entries in another order. */
    PolicyTrace shuffled(long seed) {
        Random random = new Random(seed);
        List<RoutingEvent> shuffled = new ArrayList<>();
        for (RoutingEvent event : events) {
            RoutingEvent other = event(event.layer, Arrays.copyOf(event.experts, event.size));
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, event.size).boxed().toList());
            java.util.Collections.shuffle(order, random);
            for (int i = 0; i < event.size; i++) {
                other.experts[i] = event.experts[order.get(i)];
                other.weights[i] = event.weights[order.get(i)];
                other.nextUse[i] = event.nextUse[order.get(i)];
            }
            shuffled.add(other);
        }
        return new PolicyTrace(layers, experts, topK, shuffled);
    }

    /** Of the whole trace, by key. */
    long[] counts() {
        long[] counts = new long[layers * experts];
        for (RoutingEvent event : events) {
            for (int i = 0; i < event.size; i++) {
                counts[event.layer * experts + event.experts[i]]++;
            }
        }
        return counts;
    }

    private int firstUse(int key) {
        for (int number = 0; number < events.size(); number++) {
            RoutingEvent event = events.get(number);
            for (int i = 0; i < event.size; i++) {
                if (event.layer * experts + event.experts[i] == key) {
                    return number;
                }
            }
        }
        return RoutingEvent.NEVER;
    }

    /** Everything told, the gate open; layers' rows differ by up to one each way, where there is room. */
    PolicySetup setup(int rows, Scope scope, Initial initial) {
        PoolConfig pool = new PoolConfig(layers, experts, topK, rows, 1);
        int n = pool.residentPerLayer();
        int[] layerRows = new int[layers];
        Arrays.fill(layerRows, n);
        if (layers > 1 && n > topK && n < experts - 1) {
            layerRows[0]--;
            layerRows[1]++;
        }
        return PolicySetup.of(pool, scope, initial, PoolControls.DEFAULTS.withGate(true))
                .withProfile(counts())
                .withLayerRows(layerRows)
                .withFirstUse(this::firstUse);
    }
}
