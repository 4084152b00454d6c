package org.expertpool.harness.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.ForwardHeader;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gap worked out by hand, counts against the simulator, and locality against plain sets. */
class TraceAnalysisTest {
    private static InMemoryTrace single(int experts, int... ids) {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(new TraceShape(1, experts, 1, false), "by hand");
        for (int i = 0; i < ids.length; i++) {
            builder.decode(i == 0, i, ids[i]);
        }
        return builder.build();
    }

    /** Forwards of so many tokens with a random walk over experts; a sequence every {@code length} forwards. */
    private static InMemoryTrace random(TraceShape shape, int forwards, int length, int tokens, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "random");
        for (int f = 0; f < forwards; f++) {
            int[] ids = new int[shape.layers() * tokens * shape.topK()];
            for (int at = 0; at < ids.length; at += shape.topK()) {
                int centre = f / 7;
                Set<Integer> chosen = new HashSet<>();
                while (chosen.size() < shape.topK()) {
                    int expert = Math.floorMod(centre + random.nextInt(9) * random.nextInt(3), shape.experts());
                    if (chosen.add(expert)) {
                        ids[at + chosen.size() - 1] = expert;
                    }
                }
            }
            builder.forward(new ForwardHeader(f % length == 0, false, f % length * tokens, tokens), ids, null);
        }
        return builder.build();
    }

    private static AnalysisReport analyse(InMemoryTrace trace, SimulationRequest request) {
        return TraceAnalysis.of(trace, request, 10, Optional.empty());
    }

    private static Map<String, Object> row(Table table, String policy, int rows) {
        return table.maps().stream()
                .filter(row -> row.get("policy").equals(policy)
                        && row.get("rows_per_layer").equals(rows))
                .findFirst()
                .orElseThrow();
    }

    private static long sum(Table table, String policy, int rows, String column) {
        return table.maps().stream()
                .filter(row -> row.get("policy").equals(policy)
                        && row.get("rows_per_layer").equals(rows))
                .mapToLong(row -> ((Number) row.get(column)).longValue())
                .sum();
    }

    /**
     * Experts 0 1 2 0 1 2 over two empty rows. LRU: six misses. Forced Belady: 0, 1 miss; 2 takes 1's row (needed again
     * last); 0 hits; 1 takes 0's row; 2 hits: four. With bypass 2 is served without a row, 0 and 1 hit, 2 misses: four.
     */
    @Test
    void splitsTheGapByHand() {
        SimulationRequest request =
                SimulationRequest.of(List.of("lru"), List.of(2)).withInitial(Initial.EMPTY);
        Map<String, Object> lru =
                row(analyse(single(4, 0, 1, 2, 0, 1, 2), request).table("gap"), "evict.lru", 2);
        assertThat(lru)
                .containsEntry("misses", 6L)
                .containsEntry("compulsory", 3L)
                .containsEntry("capacity", 1L)
                .containsEntry("admission", 0L)
                .containsEntry("victim", 2L)
                .containsEntry("victim_ratio", 2.0 / 6);
    }

    /**
     * Experts 0 and 1 resident, then 2 0 3 0 1 by hand. Bypass: 2 and 3 miss alone. Forced with two rows: 2 takes 1's row, 0
     * hits, 3 takes 2's, 0 hits, 1 misses. Compulsory: 2 and 3.
     */
    @Test
    void residentsAtTheStartAreNotCompulsory() {
        SimulationRequest request = SimulationRequest.of(List.of("static-leaky"), List.of(2));
        Map<String, Object> frozen =
                row(analyse(single(5, 2, 0, 3, 0, 1), request).table("gap"), "static.profile-leaky", 2);
        // Frozen with 0 and, among equals, 1: misses 2 and 3, one less than forced Belady.
        assertThat(frozen)
                .containsEntry("misses", 2L)
                .containsEntry("compulsory", 2L)
                .containsEntry("capacity", 0L)
                .containsEntry("admission", 1L)
                .containsEntry("victim", -1L);
    }

    @ParameterizedTest
    @CsvSource({
        "GLOBAL, false, forward=0",
        "LAYER, false, forward=37",
        "GLOBAL, true, sequence=2",
        "LAYER, true, sequence=0"
    })
    void countsAreTheSimulators(Scope scope, boolean reset, String score) {
        InMemoryTrace trace = random(new TraceShape(3, 24, 3, false), 200, 23, 1, 5);
        SimulationRequest request = SimulationRequest.of(
                        List.of("lru", "static", "belady-forced", "belady"), List.of(6, 11))
                .withScope(scope)
                .withResetAtSequence(reset)
                .withScore(ScoreWindow.parse(score));
        AnalysisReport report = analyse(trace, request);
        for (SimulationResult result : Simulator.simulate(trace, request)) {
            int rows = result.rowsPerLayer();
            assertThat(row(report.table("summary"), result.policy(), rows))
                    .containsEntry("forwards", result.forwards())
                    .containsEntry("selections", result.selections())
                    .containsEntry("hits", result.hits())
                    .containsEntry("misses", result.misses())
                    .containsEntry("promoted", result.promoted())
                    .containsEntry("staged", result.staged())
                    .containsEntry("hit_ratio", result.hitRatio().getAsDouble())
                    .containsEntry("h2d_bytes_per_token", null);
            for (String part : List.of("layers", "sequences", "over_time")) {
                assertThat(sum(report.table(part), result.policy(), rows, "hits"))
                        .isEqualTo(result.hits());
                assertThat(sum(report.table(part), result.policy(), rows, "selections"))
                        .isEqualTo(result.selections());
            }
            Map<String, Object> gap = row(report.table("gap"), result.policy(), rows);
            long whole = 0;
            for (String cause : List.of("compulsory", "capacity", "admission", "victim")) {
                whole += (Long) gap.get(cause);
                if (!cause.equals("victim") && score.endsWith("=0")) { // the bounds are so for the whole trace
                    assertThat((Long) gap.get(cause)).isNotNegative();
                }
            }
            assertThat(whole).isEqualTo(result.misses());
        }
    }

    @Test
    void timeShowsWhereSequencesStart() {
        InMemoryTrace trace = random(new TraceShape(1, 24, 2, false), 40, 15, 1, 1);
        Table overTime =
                analyse(trace, SimulationRequest.of(List.of("lru"), List.of(8))).table("over_time");
        List<Object> starts = new ArrayList<>();
        overTime.maps().stream()
                .filter(row -> row.get("policy").equals("evict.lru"))
                .forEach(row -> starts.addAll(List.of(row.get("from_forward"), row.get("sequence_starts"))));
        assertThat(starts).containsExactly(0L, 1L, 10L, 1L, 20L, 0L, 30L, 1L); // sequences start at 0, 15 and 30
    }

    @Test
    void reuseDistancesGiveTheCurveOfLru() {
        InMemoryTrace trace = random(new TraceShape(2, 24, 1, false), 300, 300, 1, 9);
        SimulationRequest request = SimulationRequest.of(List.of("lru"), List.of(1, 2, 3, 5, 8, 13, 21))
                .withScope(Scope.LAYER)
                .withInitial(Initial.EMPTY);
        Table reuse = analyse(trace, request).table("reuse_distance");
        for (SimulationResult result : Simulator.simulate(trace, request)) {
            long near = reuse.maps().stream()
                    .filter(row -> row.get("distance_experts") != null
                            && (Integer) row.get("distance_experts") < result.rowsPerLayer())
                    .mapToLong(row -> (Long) row.get("selections"))
                    .sum();
            assertThat(near).isEqualTo(result.hits());
        }
        assertThat(reuse.maps().get(reuse.rows().size() - 1)).containsEntry("cumulative_ratio", 1.0);
    }

    @Test
    void localityAgreesWithPlainSets() {
        TraceShape shape = new TraceShape(2, 30, 2, false);
        int length = 70;
        InMemoryTrace trace = random(shape, 210, length, 2, 4);
        SimulationRequest request =
                SimulationRequest.of(List.of("lru"), List.of(8)).withDecodeTokens(2);
        AnalysisReport report = analyse(trace, request);
        List<List<Set<Integer>>> steps = new ArrayList<>(); // [layer][forward]
        for (int layer = 0; layer < 2; layer++) {
            steps.add(new ArrayList<>());
        }
        var cursor = trace.cursor();
        int[] ids = new int[4];
        while (cursor.next()) {
            for (int layer = 0; layer < 2; layer++) {
                cursor.ids(layer, ids);
                steps.get(layer)
                        .add(new HashSet<>(
                                List.of(ids[0], ids[1], ids[2], ids[3]).stream().toList()));
            }
        }
        for (Map<String, Object> row : report.table("lag_overlap").maps()) {
            int lag = (Integer) row.get("lag_forwards");
            assertThat(lag).isLessThan(length);
            long shared = 0;
            long all = 0;
            for (List<Set<Integer>> layer : steps) {
                for (int f = 0; f < layer.size(); f++) {
                    if (f % length >= lag) {
                        Set<Integer> both = new HashSet<>(layer.get(f));
                        both.retainAll(layer.get(f - lag));
                        shared += both.size();
                        all += layer.get(f).size();
                    }
                }
            }
            assertThat(row).containsEntry("selections", all);
            assertThat((Double) row.get("overlap_ratio")).isCloseTo((double) shared / all, within(1e-12));
        }
        assertThat(report.table("lag_overlap").rows()).hasSize(7); // 1 to 64
        List<Map<String, Object>> sets = report.table("working_set").maps();
        assertThat(sets).hasSize(4); // 50 and 150 forwards, two layers; 500 are more than there are
        for (Map<String, Object> row : sets) {
            int window = (Integer) row.get("window_forwards");
            List<Set<Integer>> layer = steps.get((Integer) row.get("layer"));
            int windows = layer.size() / window;
            double distinct = 0;
            int most = 0;
            for (int w = 0; w < windows; w++) {
                Set<Integer> seen = new HashSet<>();
                layer.subList(w * window, (w + 1) * window).forEach(seen::addAll);
                distinct += seen.size();
                most = Math.max(most, seen.size());
            }
            assertThat(row)
                    .containsEntry("windows", (long) windows)
                    .containsEntry("mean_experts", distinct / windows)
                    .containsEntry("most_experts", most);
        }
    }

    @Test
    void pricesWhatWasMissed() {
        ModelGeometry model = new ModelGeometry("tiny", 2, 24, 2, 64, 64, 100, 1000, 0);
        InMemoryTrace trace = random(new TraceShape(2, 24, 2, false), 60, 60, 2, 3);
        Pricing pricing = new Pricing(model, Optional.of(DeviceProfile.load("h200")), 4096);
        SimulationRequest request =
                SimulationRequest.of(List.of("lru"), List.of(5)).withDecodeTokens(2);
        AnalysisReport report = TraceAnalysis.of(trace, request, 50, Optional.of(pricing));
        Map<String, Object> lru = row(report.table("summary"), "evict.lru", 5);
        assertThat(lru).containsEntry("tokens", 120L);
        assertThat((Double) lru.get("h2d_bytes_per_token"))
                .isEqualTo((double) (Long) lru.get("misses") * model.rowBytes() / 120);
        assertThat((Double) lru.get("modelled_ms_per_token")).isPositive();
        InMemoryTrace other = random(new TraceShape(2, 24, 3, false), 5, 5, 1, 3);
        assertThatThrownBy(() -> TraceAnalysis.of(other, request, 50, Optional.of(pricing)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("trace: 2 layers, 24 experts, top 3, expected 2 layers, 24 experts, top 2 of model tiny");
    }

    @Test
    void warnsOfWhatMakesFiguresDoubtful() {
        InMemoryTrace trace = random(new TraceShape(1, 64, 3, false), 60, 60, 1, 3);
        SimulationRequest sound = SimulationRequest.of(List.of("lru"), List.of(6, 12));
        assertThat(analyse(trace, sound).warnings()).isEmpty();
        SimulationRequest doubtful =
                SimulationRequest.of(List.of("lru"), List.of(5, 63, 80)).withControls(Map.of("promoteMinMisses", 1000));
        assertThat(analyse(trace, doubtful).warnings())
                .containsExactly(
                        "rows 5 per layer are fewer than twice top-k (3): a token's own experts take most of them, and no"
                                + " policy can keep much",
                        "evict.lru at 5 rows promoted nothing in "
                                + row(analyse(trace, doubtful).table("summary"), "evict.lru", 5)
                                        .get("misses")
                                + " misses: it fell back to a frozen placement",
                        "rows 80 fell back to 63, one less than the experts");
        InMemoryTrace wide = random(new TraceShape(1, 24, 3, false), 6, 6, 2, 3);
        assertThat(analyse(wide, sound).warnings())
                .contains(
                        "6 of 6 scored forwards are wider than the planner, change no placement and are not in the counts;"
                                + " see decode tokens",
                        "nothing was counted: no planned forward lies in the scored part");
        // All six experts fit from the start on.
        AnalysisReport flat =
                analyse(single(20, 0, 1, 2, 3, 4, 5, 0), SimulationRequest.of(List.of("lru"), List.of(6, 9)));
        assertThat(flat.warnings())
                .contains(
                        "evict.lru is flat: over 2 numbers of rows its hit ratio stays within 1.000000 to 1.000000; check"
                                + " that rows take effect and that not everything fits");
    }
}
