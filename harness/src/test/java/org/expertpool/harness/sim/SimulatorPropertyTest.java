package org.expertpool.harness.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;

/** What must hold on any trace. */
class SimulatorPropertyTest {
    private static final List<String> ALL = List.of("lru", "static", "static-leaky", "belady", "belady-forced");

    @Test
    void countsAddUpForEveryPolicyScopeAndStart() {
        RoutingTrace trace = TestTraces.random(1, 3, 24, 4, 300, 40, 5);
        for (SimulationRequest request : everySetting(List.of(4, 9, 23, 100))) {
            for (SimulationResult result : Simulator.simulate(trace, request.withDecodeTokens(2))) {
                assertThat(result.hits() + result.misses()).isEqualTo(result.selections());
                assertThat(result.promoted() + result.staged()).isEqualTo(result.misses());
                assertThat(result.partitionHits() + result.partitionMisses()).isEqualTo(result.partitionSelections());
                assertThat(result.forwards() + result.partitionForwards()).isEqualTo(300);
                assertThat(result.effectiveRows()).isEqualTo(Math.min(result.rowsPerLayer(), 23));
                assertThat(result.capacityRows()).isEqualTo(3L * result.effectiveRows());
                long[] fromSteps = new long[3];
                result.steps().forEach((selected, misses, steps) -> {
                    fromSteps[0] += steps;
                    fromSteps[1] += steps * selected;
                    fromSteps[2] += steps * misses;
                });
                assertThat(fromSteps).containsExactly(3 * result.forwards(), result.selections(), result.misses());
            }
        }
    }

    @Test
    void selectionsDoNotDependOnThePolicy() {
        RoutingTrace trace = TestTraces.random(2, 2, 16, 3, 200, 30, 4);
        Set<List<Long>> seen = new HashSet<>();
        for (SimulationRequest request : everySetting(List.of(3, 7))) {
            Simulator.simulate(trace, request)
                    .forEach(result -> seen.add(List.of(
                            result.forwards(),
                            result.selections(),
                            result.partitionForwards(),
                            result.partitionSelections())));
        }
        assertThat(seen).hasSize(1);
    }

    /** On larger traces than a search can cover. The bounds know no controls: they bound what any setting reaches. */
    @Test
    void noPolicyBeatsBelady() {
        for (long seed = 0; seed < 6; seed++) {
            RoutingTrace trace = TestTraces.random(seed, 3, 40, 4, 250, 50, 1);
            for (SimulationRequest request : everySetting(List.of(4, 8, 16, 30))) {
                List<SimulationResult> results = Simulator.simulate(trace, request);
                for (SimulationResult result : results) {
                    long loadedBefore = result.policy().startsWith("static") ? result.capacityRows() : 0;
                    assertThat(result.misses() + loadedBefore)
                            .as(result.policy() + " at " + result.rowsPerLayer())
                            .isGreaterThanOrEqualTo(of(results, "bound.belady", result.rowsPerLayer())
                                    .misses());
                }
                for (int rows : List.of(4, 8, 16, 30)) {
                    assertThat(of(results, "bound.belady-forced", rows).misses())
                            .isLessThanOrEqualTo(of(results, "evict.lru", rows).misses());
                }
                SimulationResult limited = Simulator.simulate(
                                trace, request.withControls(Map.of("promoteMinMisses", 2, "promoteLimit", 1)))
                        .get(1);
                assertThat(limited.misses())
                        .isGreaterThanOrEqualTo(of(results, "bound.belady", 8).misses());
            }
        }
    }

    /** Strictly so where no two rows share a stamp, which is top-1; with more, on all traces tried here. */
    @Test
    void lruNeverMissesMoreWithMoreRows() {
        for (long seed = 0; seed < 20; seed++) {
            for (int topK : new int[] {1, 4}) {
                RoutingTrace trace = TestTraces.random(seed, 2, 20, topK, 400, 100, 1);
                for (Initial initial : Initial.values()) {
                    List<SimulationResult> results = Simulator.simulate(
                            trace,
                            SimulationRequest.of(List.of("lru"), List.of(topK, topK + 1, topK + 2, 8, 13, 19))
                                    .withScope(Scope.LAYER)
                                    .withInitial(initial));
                    for (int i = 1; i < results.size(); i++) {
                        assertThat(results.get(i).misses())
                                .isLessThanOrEqualTo(results.get(i - 1).misses());
                    }
                }
            }
        }
    }

    /**
     * The spec's LRU is no stack algorithm: rows of one event tie by their index, and what is a low row at one size may be
     * a high one at another. So a single pass of stack distances would not give its counts, and a row more can cost a
     * miss. The trace was found by search; its counts are those of a plain scan in another program.
     */
    @Test
    void aRowMoreCanCostLruAMiss() {
        RoutingTrace trace = TestTraces.of(1, 9, 3, new int[][] {
            {2, 0, 5}, {0, 5, 2}, {0, 1, 7}, {3, 1, 6}, {1, 7, 5}, {4, 7, 0}, {6, 1, 8},
            {8, 6, 4}, {1, 2, 5}, {5, 3, 4}, {7, 1, 4}, {0, 2, 5}, {5, 4, 8}, {4, 6, 8}
        });
        List<SimulationResult> results =
                Simulator.simulate(trace, SimulationRequest.of(List.of("lru"), List.of(3, 4, 5, 6, 7, 8)));
        assertThat(results.stream().map(SimulationResult::misses)).containsExactly(26L, 19L, 20L, 13L, 10L, 6L);
    }

    /** At rows = top-k the contents are the event before, so hits are the overlap of neighbouring events. */
    @Test
    void atTopKRowsForcedAdmissionHitsTheOverlapOfNeighbours() {
        int topK = 4;
        RoutingTrace trace = TestTraces.random(5, 2, 20, topK, 500, 1000, 1);
        long overlap = 0;
        List<Set<Integer>> before = new ArrayList<>(Collections.nCopies(2, Set.of(0, 1, 2, 3)));
        for (ForwardCursor cursor = trace.cursor(); cursor.next(); ) {
            for (int layer = 0; layer < 2; layer++) {
                int[] ids = new int[topK];
                cursor.ids(layer, ids);
                overlap +=
                        Arrays.stream(ids).filter(before.get(layer)::contains).count();
                before.set(layer, Set.of(ids[0], ids[1], ids[2], ids[3]));
            }
        }
        List<SimulationResult> results = Simulator.simulate(
                trace,
                SimulationRequest.of(List.of("lru", "belady-forced"), List.of(topK))
                        .withScope(Scope.LAYER));
        assertThat(results.get(0).hits()).isEqualTo(overlap).isPositive();
        assertThat(results.get(1).hits()).isEqualTo(overlap);
    }

    /** LRU gives the rows of an event in lane order, so its later ties may fall otherwise; the others may not differ. */
    @Test
    void theOrderOfLanesHasNoInfluenceButOnLru() {
        RoutingTrace trace = TestTraces.random(6, 2, 30, 5, 300, 50, 4);
        RoutingTrace shuffled = shuffleLanes(trace, new Random(1));
        List<String> policies = List.of("static", "static-leaky", "belady", "belady-forced");
        for (Scope scope : Scope.values()) {
            SimulationRequest request = SimulationRequest.of(policies, List.of(5, 9, 20))
                    .withScope(scope)
                    .withDecodeTokens(2);
            assertThat(counts(Simulator.simulate(shuffled, request)))
                    .isEqualTo(counts(Simulator.simulate(trace, request)));
        }
    }

    @Test
    void aResetMakesEverySequenceATraceOfItsOwn() {
        RoutingTrace trace = TestTraces.random(8, 2, 20, 3, 240, 20, 1);
        List<RoutingTrace> sequences = split(trace);
        assertThat(sequences).hasSizeGreaterThan(4);
        for (SimulationRequest request : everySetting(List.of(3, 8))) {
            SimulationRequest causal = new SimulationRequest(
                    List.of("lru", "belady", "belady-forced"),
                    request.rows(),
                    request.scope(),
                    request.initial(),
                    Map.of("promoteInterval", 2, "promoteMinMisses", 2, "protectRecent", 1),
                    1,
                    ScoreWindow.all(),
                    false,
                    request.profile());
            List<SimulationResult> whole = Simulator.simulate(trace, causal.withResetAtSequence(true));
            for (int i = 0; i < whole.size(); i++) {
                long[] sum = new long[3];
                for (RoutingTrace sequence : sequences) {
                    SimulationResult part = Simulator.simulate(sequence, causal).get(i);
                    sum[0] += part.hits();
                    sum[1] += part.promoted();
                    sum[2] += part.staged();
                }
                assertThat(List.of(
                                whole.get(i).hits(),
                                whole.get(i).promoted(),
                                whole.get(i).staged()))
                        .as(whole.get(i).policy())
                        .containsExactly(sum[0], sum[1], sum[2]);
            }
        }
    }

    @Test
    void windowsAddUpToTheWhole() {
        RoutingTrace trace = TestTraces.random(9, 2, 20, 3, 200, 20, 4);
        SimulationRequest request = SimulationRequest.of(List.of("lru", "belady", "static"), List.of(5, 12));
        List<SimulationResult> whole = Simulator.simulate(trace, request);
        List<ScoreWindow> byForward =
                List.of(ScoreWindow.forwards(0, 70), ScoreWindow.forwards(70, 120), ScoreWindow.parse("forward=120"));
        List<ScoreWindow> bySequence = List.of(ScoreWindow.sequences(0, 3), ScoreWindow.parse("sequence=3"));
        for (List<ScoreWindow> windows : List.of(byForward, bySequence)) {
            for (int i = 0; i < whole.size(); i++) {
                long hits = 0;
                long misses = 0;
                long forwards = 0;
                long partition = 0;
                for (ScoreWindow window : windows) {
                    SimulationResult part =
                            Simulator.simulate(trace, request.withScore(window)).get(i);
                    hits += part.hits();
                    misses += part.misses();
                    forwards += part.forwards() + part.partitionForwards();
                    partition += part.partitionHits();
                }
                assertThat(List.of(hits, misses, forwards, partition))
                        .containsExactly(
                                whole.get(i).hits(),
                                whole.get(i).misses(),
                                200L,
                                whole.get(i).partitionHits());
            }
        }
        SimulationResult nothing = Simulator.simulate(trace, request.withScore(ScoreWindow.parse("forward=200")))
                .get(0);
        assertThat(nothing.selections()).isZero();
        assertThat(nothing.hitRatio()).isEmpty();
    }

    /** Wide forwards leave the placement as if they had not been there. */
    @Test
    void wideForwardsChangeNoPlacement() {
        RoutingTrace trace = TestTraces.random(10, 2, 20, 3, 200, 1000, 6);
        RoutingTrace narrow = onlyDecode(trace);
        assertThat(narrow.forwards()).isLessThan(200);
        for (SimulationRequest request : everySetting(List.of(3, 10))) {
            List<SimulationResult> with = Simulator.simulate(trace, request);
            List<SimulationResult> without = Simulator.simulate(narrow, request);
            for (int i = 0; i < with.size(); i++) {
                assertThat(with.get(i).partitionForwards()).isEqualTo(200 - narrow.forwards());
                assertThat(with.get(i).partitionSelections()).isPositive();
                assertThat(without.get(i).partitionForwards()).isZero();
                if (!with.get(i).policy().startsWith("static")) { // their profile is that of half the forwards
                    assertThat(counts(with).get(i)).isEqualTo(counts(without).get(i));
                }
            }
        }
    }

    /** Two tokens of top-3 fit 6 lanes; three do not. Distinct experts are counted, not lanes. */
    @Test
    void theWidthDecidesWhichForwardsArePlanned() {
        TraceShape shape = new TraceShape(1, 10, 3, false);
        RoutingTrace trace = InMemoryTrace.builder(shape, "written in a test").build();
        assertThat(Simulator.simulate(trace, SimulationRequest.of(List.of("lru", "static"), List.of(4)))
                        .get(0)
                        .hitRatio())
                .isEmpty();
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "written in a test");
        builder.forward(new ForwardHeader(true, true, 0, 2), new int[] {7, 8, 0, 8, 0, 1}, null);
        builder.forward(new ForwardHeader(false, true, 2, 3), new int[] {7, 8, 9, 7, 8, 9, 0, 1, 2}, null);
        SimulationResult result = Simulator.simulate(
                        builder.build(),
                        SimulationRequest.of(List.of("lru"), List.of(4)).withDecodeTokens(2))
                .get(0);
        // 7 8 0 1 are selected; 0 and 1 are resident, 7 and 8 take the rows of 2 and 3.
        assertThat(List.of(result.forwards(), result.selections(), result.hits(), result.promoted()))
                .containsExactly(1L, 4L, 2L, 2L);
        // 7 8 9 0 1 2 are read: 7 8 0 1 from the bank.
        assertThat(List.of(result.partitionForwards(), result.partitionSelections(), result.partitionHits()))
                .containsExactly(1L, 6L, 4L);
    }

    @Test
    void controlsReachThePlanner() {
        RoutingTrace trace = TestTraces.random(11, 2, 20, 4, 200, 1000, 1);
        SimulationRequest request = SimulationRequest.of(List.of("lru"), List.of(8));
        SimulationResult frozen = Simulator.simulate(trace, request.withControls(Map.of("gate", 0)))
                .get(0);
        assertThat(frozen.promoted()).isZero();
        SimulationResult free = Simulator.simulate(trace, request).get(0);
        assertThat(free.staged()).isZero();
        SimulationResult limited = Simulator.simulate(trace, request.withControls(Map.of("promoteLimit", 1)))
                .get(0);
        assertThat(limited.promoted()).isPositive().isLessThan(free.promoted());
        assertThat(limited.staged()).isPositive();
    }

    private static List<SimulationRequest> everySetting(List<Integer> rows) {
        List<SimulationRequest> requests = new ArrayList<>();
        for (Scope scope : List.of(Scope.GLOBAL, Scope.LAYER)) {
            for (Initial initial : List.of(Initial.FIRST_N, Initial.EMPTY)) {
                requests.add(SimulationRequest.of(ALL, rows).withScope(scope).withInitial(initial));
            }
        }
        return requests;
    }

    private static SimulationResult of(List<SimulationResult> results, String policy, int rows) {
        return results.stream()
                .filter(result -> result.policy().equals(policy) && result.rowsPerLayer() == rows)
                .findFirst()
                .orElseThrow();
    }

    private static List<List<Long>> counts(List<SimulationResult> results) {
        return results.stream()
                .map(result -> List.of(result.hits(), result.promoted(), result.staged()))
                .toList();
    }

    private static RoutingTrace shuffleLanes(RoutingTrace trace, Random random) {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(trace.shape(), "shuffled");
        forEach(trace, (header, ids) -> {
            int topK = trace.shape().topK();
            for (int token = 0; token < ids.length / topK; token++) { // distinct within a token; shuffle inside it
                for (int i = topK - 1; i > 0; i--) {
                    int j = random.nextInt(i + 1);
                    int swapped = ids[token * topK + i];
                    ids[token * topK + i] = ids[token * topK + j];
                    ids[token * topK + j] = swapped;
                }
            }
            builder.forward(header, ids, null);
        });
        return builder.build();
    }

    private static List<RoutingTrace> split(RoutingTrace trace) {
        List<InMemoryTrace.Builder> builders = new ArrayList<>();
        forEach(trace, (header, ids) -> {
            if (header.startsSequence()) {
                builders.add(InMemoryTrace.builder(trace.shape(), "one sequence"));
            }
            builders.get(builders.size() - 1).forward(header, ids, null);
        });
        List<RoutingTrace> traces = new ArrayList<>();
        builders.forEach(builder -> traces.add(builder.build()));
        return traces;
    }

    private static RoutingTrace onlyDecode(RoutingTrace trace) {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(trace.shape(), "decode only");
        int[] position = {0};
        forEach(trace, (header, ids) -> {
            if (header.tokens() == 1) {
                builder.forward(ForwardHeader.decode(position[0] == 0, position[0]++), ids, null);
            }
        });
        return builder.build();
    }

    private interface Forward {
        void accept(ForwardHeader header, int[] ids);
    }

    private static void forEach(RoutingTrace trace, Forward forward) {
        for (ForwardCursor cursor = trace.cursor(); cursor.next(); ) {
            int lanes = cursor.tokens() * trace.shape().topK();
            int[] all = new int[trace.shape().layers() * lanes];
            int[] ids = new int[lanes];
            for (int layer = 0; layer < trace.shape().layers(); layer++) {
                cursor.ids(layer, ids);
                System.arraycopy(ids, 0, all, layer * lanes, lanes);
            }
            forward.accept(ForwardHeader.of(cursor), all);
        }
    }
}
