package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each policy after every step against its rule written once more, on other data structures ({@link PlainRule}). */
class PolicyTwinTest {
    /** Whether a miss may be promoted; {@code victimKey} is null for a row without owner. */
    private interface PlainPromotion {
        default void selected(int key, float weight, int forward) {}

        boolean promotes(int key, float weight, Integer victimKey, int forward);
    }

    static Stream<String> evictions() {
        return PlainRule.all().keySet().stream().sorted();
    }

    static Stream<String> promotions() {
        return plainPromotions().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("evictions")
    void evictionsEqualTheirTwins(String name) {
        // Plain LRU serves misses in lane order; here it is asked for in ascending order, through a rule that lets all
        // pass.
        String asked = name.equals("evict.lru") ? "evict.lru+promote.probability(1)" : name;
        compare(asked, () -> PlainRule.all().get(name), () -> (key, weight, victimKey, forward) -> true);
    }

    @ParameterizedTest
    @MethodSource("promotions")
    void promotionRulesEqualTheirTwins(String name) {
        compare(
                "evict.lru+" + name,
                () -> PlainRule.all().get("evict.lru"),
                plainPromotions().get(name));
    }

    private static void compare(
            String name, Supplier<IntFunction<PlainRule>> rule, Supplier<PlainPromotion> promotion) {
        for (int seed = 0; seed < 40; seed++) {
            int layers = 1 + seed % 3;
            int topK = 1 + seed % 4;
            int experts = topK + 3 + seed % 9;
            int rows = topK + (seed * 7) % (experts - topK);
            PolicyTrace trace = PolicyTrace.random(seed, layers, experts, topK, 120 / layers, seed % 2 == 0);
            Scope scope = seed % 5 < 2 ? Scope.GLOBAL : Scope.LAYER;
            Initial initial = seed % 3 == 0 ? Initial.EMPTY : Initial.FIRST_N;
            PlacementPolicy policy = Policies.named(name).create(trace.setup(rows, scope, initial));
            PlainPool plain = new PlainPool(trace, rows, scope, initial, rule.get(), promotion.get());
            for (int step = 0; step < trace.events().size(); step++) {
                RoutingEvent event = trace.events().get(step);
                StepTally tally = new StepTally();
                policy.step(event, tally);
                String at = name + ", seed " + seed + ", step " + step;
                assertThat(new long[] {tally.hits, tally.promoted, tally.staged})
                        .as(at)
                        .isEqualTo(plain.step(event));
                for (int key = 0; key < layers * experts; key++) {
                    assertThat(policy.isResident(key / experts, key % experts))
                            .as(at + ", key " + key)
                            .isEqualTo(plain.rowOf.containsKey(key));
                }
            }
        }
    }

    private static Map<String, Supplier<PlainPromotion>> plainPromotions() {
        Map<String, Supplier<PlainPromotion>> all = new TreeMap<>();
        all.put("promote.nth-touch(2,4)", () -> new NthTouch(2, 4));
        all.put("promote.nth-touch(3,9)", () -> new NthTouch(3, 9));
        all.put("promote.nth-touch(1,1)", () -> new NthTouch(1, 1));
        all.put("promote.hotter(7)", () -> new Hotter(7, 0, false));
        all.put("promote.hotter(3,0.5)", () -> new Hotter(3, 32768, false));
        all.put("promote.hotter-weighted(7)", () -> new Hotter(7, 0, true));
        all.put(
                "promote.router-weight(0.375)",
                () -> (key, weight, victimKey, forward) -> weight == 0.375f || weight > 0.375f);
        all.put("promote.probability(0.25,5)", Probability::new);
        return all;
    }

    private static final class NthTouch implements PlainPromotion {
        private final int touches;
        private final int window;
        private final Map<Integer, List<Integer>> history = new HashMap<>();

        NthTouch(int touches, int window) {
            this.touches = touches;
            this.window = window;
        }

        @Override
        public void selected(int key, float weight, int forward) {
            history.computeIfAbsent(key, none -> new ArrayList<>()).add(forward);
        }

        @Override
        public boolean promotes(int key, float weight, Integer victimKey, int forward) {
            long recent = history.get(key).stream()
                    .filter(touch -> touch >= forward - window)
                    .count();
            return recent >= touches;
        }
    }

    /** The fixed-point form of the rule's documentation, in whole numbers without a fixed width. */
    private static final class Hotter implements PlainPromotion {
        private final int halfLife;
        private final long margin;
        private final boolean byWeight;
        private final Map<Integer, BigInteger> heat = new HashMap<>();
        private final Map<Integer, Integer> written = new HashMap<>();

        Hotter(int halfLife, long margin, boolean byWeight) {
            this.halfLife = halfLife;
            this.margin = margin;
            this.byWeight = byWeight;
        }

        private BigInteger heat(int key, int forward) {
            int age = forward - written.getOrDefault(key, 0);
            long factor = Math.round(65536 * Math.exp(-Math.log(2) * (age % halfLife) / halfLife));
            return heat.getOrDefault(key, BigInteger.ZERO)
                    .multiply(BigInteger.valueOf(factor))
                    .divide(BigInteger.valueOf(65536))
                    .divide(BigInteger.TWO.pow(age / halfLife));
        }

        @Override
        public void selected(int key, float weight, int forward) {
            long added = byWeight ? (long) (weight * 65536) : 65536; // weights here are eighths
            heat.put(key, heat(key, forward).add(BigInteger.valueOf(added)));
            written.put(key, forward);
        }

        @Override
        public boolean promotes(int key, float weight, Integer victimKey, int forward) {
            return victimKey == null
                    || heat(key, forward).compareTo(heat(victimKey, forward).add(BigInteger.valueOf(margin))) > 0;
        }
    }

    private static final class Probability implements PlainPromotion {
        private long asked;

        @Override
        public boolean promotes(int key, float weight, Integer victimKey, int forward) {
            return PlainRule.hash(5, asked++).shiftRight(30).intValueExact() == 0; // below a quarter of 2^32
        }
    }

    /** The event contract: classify, serve in ascending order, then change; none of the event is given up. */
    private static final class PlainPool {
        private final PolicyTrace trace;
        private final boolean global;
        private final int groupRows;
        private final List<PlainRule> rules = new ArrayList<>();
        private final PlainPromotion promotion;
        private final Map<Integer, Integer> rowOf = new HashMap<>(); // key to row of the bank
        private final Map<Integer, Integer> ownerOf = new HashMap<>();
        private long clock;
        private int forward;

        PlainPool(
                PolicyTrace trace,
                int rows,
                Scope scope,
                Initial initial,
                IntFunction<PlainRule> rule,
                PlainPromotion promotion) {
            this.trace = trace;
            this.promotion = promotion;
            global = scope == Scope.GLOBAL;
            groupRows = global ? rows * trace.layers() : rows;
            for (int group = 0; group < (global ? 1 : trace.layers()); group++) {
                rules.add(rule.apply(groupRows));
            }
            for (int row = 0; initial == Initial.FIRST_N && row < rows * trace.layers(); row++) {
                int key = row / rows * trace.experts() + row % rows;
                rowOf.put(key, row);
                ownerOf.put(row, key);
                rules.get(row / groupRows).starts(row % groupRows, key);
            }
        }

        long[] step(RoutingEvent event) {
            clock++;
            forward += event.layer == 0 ? 1 : 0;
            int group = global ? 0 : event.layer;
            PlainRule rule = rules.get(group);
            Map<Integer, Float> weightOf = new TreeMap<>();
            for (int i = 0; i < event.size; i++) {
                weightOf.put(event.layer * trace.experts() + event.experts[i], event.weights[i]);
            }
            List<Integer> missing = new ArrayList<>();
            weightOf.forEach((key, weight) -> {
                Integer row = rowOf.get(key);
                rule.selected(key, row == null ? null : row % groupRows, weight, clock, forward);
                promotion.selected(key, weight, forward);
                if (row == null) {
                    missing.add(key);
                }
            });
            int promoted = 0;
            for (int key : missing) {
                promoted += promote(rule, group, key, weightOf) ? 1 : 0;
            }
            rule.eventEnds();
            return new long[] {weightOf.size() - missing.size(), promoted, missing.size() - promoted};
        }

        private boolean promote(PlainRule rule, int group, int key, Map<Integer, Float> weightOf) {
            int[] rows =
                    IntStream.range(group * groupRows, (group + 1) * groupRows).toArray();
            int[] empty =
                    Arrays.stream(rows).filter(row -> !ownerOf.containsKey(row)).toArray();
            Integer row = empty.length > 0 ? (Integer) empty[0] : null;
            if (row == null) {
                List<Integer> candidates = Arrays.stream(rows)
                        .filter(candidate -> !weightOf.containsKey(ownerOf.get(candidate)))
                        .mapToObj(candidate -> candidate % groupRows)
                        .toList();
                if (candidates.isEmpty()) {
                    return false;
                }
                row = group * groupRows + rule.choose(candidates, key, clock, forward);
            }
            Integer victimKey = ownerOf.get(row);
            if (!promotion.promotes(key, weightOf.get(key), victimKey, forward)) {
                return false;
            }
            rule.moves(row % groupRows, key, clock);
            rowOf.remove(victimKey);
            rowOf.put(key, row);
            ownerOf.put(row, key);
            return true;
        }
    }

    /** The fixed-point heat stays within a rounding a step of the real one. */
    @Test
    void fixedPointHeatFollowsTheRealOne() {
        PolicyTrace trace = PolicyTrace.random(1, 1, 6, 2, 400, true);
        PoolState state = new PoolState(trace.setup(3, Scope.LAYER, Initial.FIRST_N));
        HotterRule rule = new HotterRule(state, 64, 0, false);
        double[] real = new double[6];
        for (RoutingEvent event : trace.events()) {
            state.forwards++;
            for (int key = 0; key < 6; key++) {
                real[key] *= Math.pow(2, -1 / 64.0);
            }
            for (int i = 0; i < event.size; i++) {
                rule.selected(event.experts[i], 1);
                real[event.experts[i]]++;
            }
            for (int a = 0; a < 6; a++) {
                for (int b = 0; b < 6; b++) {
                    if (real[a] > real[b] + 0.05) {
                        assertThat(rule.beats(a, b)).isTrue();
                    }
                }
            }
        }
    }
}
