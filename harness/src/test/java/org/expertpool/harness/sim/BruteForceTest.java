package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;

/** Every policy on tiny random traces against a search or a count written from its definition, on sets of keys. */
class BruteForceTest {
    private static final int TRACES = 300;

    /** The optimum over all schedules: after an event any contents may be kept out of contents and event together. */
    @Test
    void beladyWithBypassIsTheOptimum() {
        for (Case tiny : cases()) {
            long least = new Schedules(tiny, false).fewestMisses();
            assertThat(tiny.simulate("belady").misses()).as(tiny.toString()).isEqualTo(least);
        }
    }

    /** The optimum over all schedules that admit every miss. */
    @Test
    void beladyForcedIsTheOptimumOfDemandPaging() {
        for (Case tiny : cases()) {
            long least = new Schedules(tiny, true).fewestMisses();
            assertThat(tiny.simulate("belady-forced").misses())
                    .as(tiny.toString())
                    .isEqualTo(least);
            assertThat(tiny.simulate("belady-forced").staged()).isZero();
        }
    }

    @Test
    void lruGivesUpTheSmallestUseThenTheLowestRow() {
        for (Case tiny : cases()) {
            assertThat(tiny.simulate("lru").misses()).as(tiny.toString()).isEqualTo(lruMisses(tiny));
        }
    }

    @Test
    void staticKeepsTheMostSelected() {
        for (Case tiny : cases()) {
            int half = tiny.events.size() / tiny.layers / 2;
            assertThat(tiny.simulate("static").misses())
                    .as(tiny.toString())
                    .isEqualTo(staticMisses(tiny, Math.max(1, half)));
            assertThat(tiny.simulate("static-leaky").misses())
                    .as(tiny.toString())
                    .isEqualTo(staticMisses(tiny, tiny.events.size() / tiny.layers));
        }
    }

    /** A static placement is loaded before the first event, which the bound has to pay with a miss for each row. */
    @Test
    void noPolicyBeatsBeladyFromTheSameStart() {
        for (Case tiny : cases()) {
            long least = tiny.simulate("belady").misses();
            for (String policy : List.of("lru", "static", "static-leaky", "belady-forced")) {
                SimulationResult result = tiny.simulate(policy);
                long loadedBefore = policy.startsWith("static") ? result.capacityRows() : 0;
                assertThat(result.misses() + loadedBefore)
                        .as(policy + " " + tiny)
                        .isGreaterThanOrEqualTo(least);
            }
            assertThat(tiny.simulate("belady-forced").misses())
                    .isLessThanOrEqualTo(tiny.simulate("lru").misses());
        }
    }

    private static List<Case> cases() {
        Random random = new Random(7);
        List<Case> cases = new ArrayList<>();
        for (int i = 0; i < TRACES; i++) {
            int layers = 1 + random.nextInt(2);
            int experts = (layers == 1 ? 3 : 2) + random.nextInt(3);
            int rows = 1 + random.nextInt(experts - 1);
            int topK = 1 + random.nextInt(Math.min(2, rows));
            int forwards = 2 + random.nextInt(layers == 1 ? 8 : 4);
            Scope scope = random.nextBoolean() ? Scope.GLOBAL : Scope.LAYER;
            Initial initial = random.nextBoolean() ? Initial.FIRST_N : Initial.EMPTY;
            cases.add(new Case(i, layers, experts, topK, rows, forwards, scope, initial));
        }
        return cases;
    }

    private static long lruMisses(Case tiny) {
        int n = tiny.rows;
        Map<Integer, Integer> owner = new TreeMap<>(tiny.startByRow());
        Map<Integer, Integer> used = new HashMap<>();
        long misses = 0;
        for (int clock = 1; clock <= tiny.events.size(); clock++) {
            int now = clock;
            Set<Integer> event = tiny.events.get(clock - 1);
            owner.forEach((row, key) -> used.merge(row, event.contains(key) ? now : 0, Math::max));
            for (int key : event) {
                if (owner.containsValue(key)) {
                    continue;
                }
                misses++;
                int first = tiny.scope == Scope.LAYER ? key / tiny.experts * n : 0;
                int end = tiny.scope == Scope.LAYER ? first + n : tiny.layers * n;
                Comparator<Integer> order = Comparator.comparing(
                                (Integer row) -> owner.containsKey(row) ? used.getOrDefault(row, 0) : -1)
                        .thenComparing(row -> row);
                Optional<Integer> row = IntStream.range(first, end)
                        .boxed()
                        .filter(r -> !owner.containsKey(r) || used.getOrDefault(r, 0) < now)
                        .min(order);
                row.ifPresent(r -> {
                    owner.put(r, key);
                    used.put(r, now);
                });
            }
        }
        return misses;
    }

    private static long staticMisses(Case tiny, int forwards) {
        Map<Integer, Integer> counts = new HashMap<>();
        tiny.events
                .subList(0, forwards * tiny.layers)
                .forEach(event -> event.forEach(key -> counts.merge(key, 1, Integer::sum)));
        Set<Integer> resident = new TreeSet<>();
        Comparator<Integer> best = Comparator.comparing((Integer key) -> -counts.getOrDefault(key, 0))
                .thenComparing(key -> key);
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < tiny.layers * tiny.experts; key++) {
            keys.add(key);
        }
        keys.sort(best);
        int[] taken = new int[tiny.layers];
        for (int key : keys) {
            boolean room = tiny.scope == Scope.LAYER
                    ? taken[key / tiny.experts] < tiny.rows
                    : resident.size() < tiny.layers * tiny.rows;
            if (room) {
                taken[key / tiny.experts]++;
                resident.add(key);
            }
        }
        return tiny.events.stream()
                .flatMap(Set::stream)
                .filter(key -> !resident.contains(key))
                .count();
    }

    /** One tiny trace and its setting; events are sets of keys in the order of the lanes. */
    private static final class Case {
        private final long seed;
        private final int layers;
        private final int experts;
        private final int topK;
        private final int rows;
        private final Scope scope;
        private final Initial initial;
        private final RoutingTrace trace;
        private final List<Set<Integer>> events = new ArrayList<>();

        Case(long seed, int layers, int experts, int topK, int rows, int forwards, Scope scope, Initial initial) {
            this.seed = seed;
            this.layers = layers;
            this.experts = experts;
            this.topK = topK;
            this.rows = rows;
            this.scope = scope;
            this.initial = initial;
            trace = TestTraces.random(seed, layers, experts, topK, forwards, Integer.MAX_VALUE, 1);
            int[] ids = new int[topK];
            for (ForwardCursor cursor = trace.cursor(); cursor.next(); ) {
                for (int layer = 0; layer < layers; layer++) {
                    Set<Integer> event = new LinkedHashSet<>();
                    for (int lane = 0; lane < cursor.ids(layer, ids); lane++) {
                        event.add(layer * experts + ids[lane]);
                    }
                    events.add(event);
                }
            }
        }

        SimulationResult simulate(String policy) {
            return Simulator.simulate(
                            trace,
                            SimulationRequest.of(List.of(policy), List.of(rows))
                                    .withScope(scope)
                                    .withInitial(initial))
                    .get(0);
        }

        Map<Integer, Integer> startByRow() {
            Map<Integer, Integer> start = new TreeMap<>();
            for (int row = 0; row < layers * rows && initial == Initial.FIRST_N; row++) {
                start.put(row, row / rows * experts + row % rows);
            }
            return start;
        }

        @Override
        public String toString() {
            return "seed " + seed + ", " + layers + " layers x " + experts + " experts, top-" + topK + ", " + rows
                    + " rows, " + scope + ", " + initial + ": " + events;
        }
    }

    /** Tries every placement after every event. */
    private static final class Schedules {
        private final Case tiny;
        private final boolean admitAll;
        private final Map<List<Object>, Long> known = new HashMap<>();

        Schedules(Case tiny, boolean admitAll) {
            this.tiny = tiny;
            this.admitAll = admitAll;
        }

        long fewestMisses() {
            return from(0, new TreeSet<>(tiny.startByRow().values()));
        }

        private long from(int at, Set<Integer> contents) {
            if (at == tiny.events.size()) {
                return 0;
            }
            Long before = known.get(List.of(at, contents));
            if (before != null) {
                return before;
            }
            Set<Integer> event = tiny.events.get(at);
            long misses = event.stream().filter(key -> !contents.contains(key)).count();
            Set<Integer> union = new TreeSet<>(contents);
            union.addAll(event);
            long least = Long.MAX_VALUE;
            for (Set<Integer> kept : subsets(new ArrayList<>(union), union.size())) {
                if (fits(kept) && (!admitAll || kept.containsAll(event))) {
                    least = Math.min(least, from(at + 1, kept));
                }
            }
            known.put(List.of(at, contents), misses + least);
            return misses + least;
        }

        private boolean fits(Set<Integer> kept) {
            if (tiny.scope == Scope.GLOBAL) {
                return kept.size() <= tiny.layers * tiny.rows;
            }
            for (int layer = 0; layer < tiny.layers; layer++) {
                int of = layer;
                if (kept.stream().filter(key -> key / tiny.experts == of).count() > tiny.rows) {
                    return false;
                }
            }
            return true;
        }

        private static List<Set<Integer>> subsets(List<Integer> items, int count) {
            List<Set<Integer>> all = new ArrayList<>();
            for (int mask = 0; mask < 1 << count; mask++) {
                Set<Integer> subset = new TreeSet<>();
                for (int i = 0; i < count; i++) {
                    if ((mask >> i & 1) == 1) {
                        subset.add(items.get(i));
                    }
                }
                all.add(subset);
            }
            return all;
        }
    }
}
