package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a causal policy keeps does not grow with the trace: every array and collection that can be reached from it is counted. */
class BoundedStateTest {
    static Stream<String> policies() {
        return PolicyConformanceTest.policies().filter(name -> !name.startsWith("bound."));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void doesNotGrowWithTheTrace(String name) throws IllegalAccessException {
        PolicyTrace trace = PolicyTrace.random(5, 3, 24, 4, 900, false);
        PlacementPolicy policy = Policies.named(name).create(trace.setup(12, Scope.LAYER, Initial.FIRST_N));
        StepTally tally = new StepTally();
        int half = trace.events().size() / 2;
        long start = entries(policy);
        for (RoutingEvent event : trace.events().subList(0, half)) {
            policy.step(event, tally);
        }
        long middle = entries(policy);
        for (RoutingEvent event : trace.events().subList(half, trace.events().size())) {
            policy.step(event, tally);
        }
        assertThat(entries(policy)).isEqualTo(middle).isEqualTo(start);
        assertThat(start).isPositive();
        assertThat(tally.hits + tally.misses()).isPositive();
    }

    /** Entries of all arrays, collections and maps that the fields of our own classes lead to. */
    private static long entries(Object root) throws IllegalAccessException {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> waiting = new ArrayDeque<>();
        waiting.add(root);
        long entries = 0;
        while (!waiting.isEmpty()) {
            Object next = waiting.poll();
            if (!seen.add(next)) {
                continue;
            }
            if (next.getClass().isArray()) {
                entries += Array.getLength(next);
                if (next instanceof Object[] objects) {
                    Stream.of(objects).filter(one -> one != null).forEach(waiting::add);
                }
            } else if (next instanceof Collection<?> collection) {
                entries += collection.size();
                waiting.addAll(collection);
            } else if (next instanceof Map<?, ?> map) {
                entries += map.size();
                waiting.addAll(map.values());
            } else if (next.getClass().getName().startsWith("org.expertpool.") && !(next instanceof Enum)) {
                addFields(next, waiting);
            }
        }
        return entries;
    }

    private static void addFields(Object holder, Deque<Object> waiting) throws IllegalAccessException {
        for (Class<?> type = holder.getClass();
                type.getName().startsWith("org.expertpool.");
                type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) {
                    continue;
                }
                field.setAccessible(true);
                if (field.get(holder) != null) {
                    waiting.add(field.get(holder));
                }
            }
        }
    }
}
