package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * 30 accesses worked out by the rules on paper: 15 events of two of eight experts of one layer, four rows, which hold experts 0 to 3 at the
 * start. Beside the counts stands what each event evicts, so that every line can be followed by hand: experts that go,
 * a dash for each miss that is only staged, a dot where nothing changes.
 *
 * <p>For LRU: event 2 wants 4, and of rows 2 and 3, not used so far, the lower goes; event 4 wants 2 and 5, finds 3 never
 * used and 1 used in event 2, before 0 and 4 in event 3; and so on. For the bounds: event 4 wants 5, needed again in event 6; forced, 4 goes
 * (event 6; 0 and 1 in event 5, and 2 is in use), with bypass 2 goes, which is never wanted again. Profiles are the counts of all 30: 0, 1, 4
 * and 5 lead. Heat halves each event: after event 5 it is .5 for 5 and 0 for 3, after event 10 1.32 for 4, .5 for 7, .08 for 5 and .02 for 2.
 *
 * <p>Random counts the rows that the event does not use, lowest first; seed 1 draws 2 of 3 (rows counted from 0) in event 2, 0 of 3 in event 4, then
 * 2, 1, 1, 0, 1 of 3 (events 5 to 9), 0 of 3 (11), 3 of 4 and 1 of 3 (12), 2 and 2 (13), 2 and 0 (14), 0 and 2 (15). Probability's draws with seed 1
 * are .77 .22 .69 .45 .58 .05 .66 .01 .90 .64: of ten misses the second, fourth, sixth and eighth come in.
 *
 * <p>Hotter halves in four events, a selection adds 1. Margin .5: event 4 takes 2 (1 against 3's 0) and not 5 (1 against 1's 1.30), event 6 takes 5
 * (1.71 against 2's .71), event 11 leaves 3 (1 against 5's .72), event 12 takes 6 (1.42 against 5's .60). Weighted, a selection adds its weight: 2 (.25
 * against 0) and 5 (.75 against 1's .50) in event 4, 1 (.92 against .47) in 5, 4 (1.15 against .18) in 6, 6 (.61 against .28) in 12, 7 (.55 against .43)
 * in 14. Router weight .75 is reached by two misses: 5 in events 4 and 6. Interval 2 promotes in odd events alone. With two misses to come in, 4 does
 * in event 3, 5 in 6, 6 in 12, 7 in 14. Protecting two forwards leaves as victims what was last used three events before or earlier: in event 2, 2 and 3 were
 * never used, and clock 0 is not before clock 0.
 */
class PolicyHandTest {
    private static final int[][] EVENTS = {
        {0, 1}, {4, 1}, {0, 4}, {2, 5}, {0, 1}, {5, 4}, {0, 6}, {1, 4}, {7, 0}, {4, 1}, {3, 0}, {1, 6}, {0, 5}, {4, 7},
        {0, 1}
    };

    /** Router weights of both, in eighths. */
    private static final int[][] WEIGHTS = {
        {6, 2}, {4, 4}, {6, 2}, {2, 6}, {4, 4}, {2, 6}, {6, 2}, {4, 4}, {1, 7}, {5, 3}, {2, 6}, {4, 4}, {7, 1}, {4, 4},
        {6, 2}
    };

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "evict.lru                      | 16 | 14 | . 2 . 13 4 2 1 5 6 . 7 4 3 16 5",
                "evict.fifo                     | 14 | 16 | . 0 1 3 2 . 4 0 15 6 4 7 1 03 56",
                "evict.clock                    | 16 | 14 | . 2 . 03 4 2 4 5 6 . 7 4 3 16 5",
                "evict.sieve                    | 18 | 12 | . 2 . 34 . 2 4 5 6 . 7 4 3 56 .",
                "evict.s3-fifo                  | 19 | 11 | . 0 2 34 . 2 5 . 6 . 7 3 6 5 .",
                "evict.2q                       | 16 | 14 | . 0 1 3 2 . 4 5 1 6 7 3 4 15 4",
                "evict.arc                      | 14 | 16 | . 2 . 01 35 2 1 6 5 . 1 47 3 16 5",
                "evict.lru-2                    | 17 | 13 | . 0 2 13 5 2 1 6 5 . 7 3 6 5 .",
                "evict.lfu                      | 19 | 11 | . 2 . 13 5 2 5 . 6 . 7 3 6 5 .",
                "evict.lfu-halving(4)           | 17 | 13 | . 2 . 13 4 2 1 6 5 . 7 3 4 56 .",
                "evict.lfu-decayed(0.5)         | 16 | 14 | . 2 . 13 4 2 1 5 6 . 7 4 3 16 5",
                "evict.gate-ewma(0.5)           | 17 | 13 | . 2 . 13 4 2 1 5 6 . 7 3 4 56 .",
                "evict.lfru                     | 18 | 12 | . 2 . 13 5 2 1 6 5 . 7 3 6 5 .",
                "evict.w-tinylfu(10)            | 19 | 11 | . 2 . 34 . 2 5 . 6 . 7 4 3 56 .",
                "evict.least-stale              | 16 | 14 | . 2 . 13 4 2 1 5 6 . 7 4 3 16 5",
                "evict.layered-lru              | 16 | 14 | . 2 . 13 4 2 1 5 6 . 7 4 3 16 5",
                "promote.nth-touch(2,4)         | 20 |  2 | . - 2 -- . 3 - . - . - - . - .",
                "promote.hotter(4)              | 20 |  5 | . 2 . 3- . 2 - . - . 5 - - 3 .",
                "promote.router-weight(0.5)     | 20 |  4 | . 2 . 3- . . - . - . - 5 - 1 -",
                "evict.lru+pin.profile(50)      | 19 | 11 | . 2 . 34 . 2 5 . 6 . 7 4 3 56 .",
                "static.profile                 | 24 |  0 | . . . - . . - . - . - - . - .",
                "heat.exchange(0.5,5,1.3,2)     | 19 |  0 | . - - - 3 - - - - 25- - - - . .",
                "evict.random                   | 14 | 16 | . 3 . 0 4 2 1 5 6 . 1 07 14 03 57",
                "promote.hotter(4,0.5)          | 20 |  4 | . 2 . 3- . 2 - . - . - 5 - - .",
                "promote.hotter-weighted(4)     | 19 |  7 | . 2 . 13 4 2 - . - . - 5 - 6 .",
                "promote.router-weight(0.75)    | 21 |  2 | . - - 3 . 2 - . - . - - . - .",
                "promote.probability(0.5)       | 20 |  4 | . - 2 3- . . - . 5 . - 7 - - .",
                "promote.interval(2)            | 18 |  5 | . - 2 -- . - 3 . 6 . 7 - 4 -- .",
                "promote.min-misses(2)          | 18 |  4 | . - 2 -- . 3 - . - . - 5 - 1 -",
                "promote.protect-recent(2)      | 18 |  6 | . - 2 3- . - 2 . - . 6 - 4 3- .",
                "bound.belady-forced            | 21 |  9 | . 3 . 4 . 2 5 . 6 . 4 3 6 5 .",
                "bound.belady                   | 23 |  3 | . 3 . 2 . . 5 . - . - . - - .",
                "evict.lru+promote.insert-cap(1) | 18 | 10 | . 2 . 3- . 2 1 5 6 . 7 4 3 6- ."
            })
    void evictsWhatTheRuleSays(String name, long hits, long promoted, String evictions) {
        PolicyTrace trace = new PolicyTrace(1, 8, 2, events()).foretold();
        PlacementPolicy policy = Policies.named(name).create(trace.setup(4, Scope.LAYER, Initial.FIRST_N));
        StepTally tally = new StepTally();
        StringBuilder seen = new StringBuilder();
        for (RoutingEvent event : trace.events()) {
            List<Integer> before = resident(policy);
            long staged = tally.staged;
            policy.step(event, tally);
            List<Integer> after = resident(policy);
            String gone = before.stream()
                    .filter(expert -> !after.contains(expert))
                    .map(String::valueOf)
                    .collect(Collectors.joining());
            String step = gone + "-".repeat((int) (tally.staged - staged));
            seen.append(step.isEmpty() ? "." : step).append(' ');
        }
        assertThat(seen.toString().strip()).isEqualTo(evictions);
        assertThat(new long[] {tally.hits, tally.promoted, tally.staged})
                .isEqualTo(new long[] {hits, promoted, 30 - hits - promoted});
    }

    private static List<RoutingEvent> events() {
        return IntStream.range(0, EVENTS.length)
                .mapToObj(i -> {
                    RoutingEvent event = PolicyTrace.event(0, EVENTS[i]);
                    event.weights[0] = WEIGHTS[i][0] / 8f;
                    event.weights[1] = WEIGHTS[i][1] / 8f;
                    return event;
                })
                .toList();
    }

    private static List<Integer> resident(PlacementPolicy policy) {
        return IntStream.range(0, 8)
                .filter(expert -> policy.isResident(0, expert))
                .boxed()
                .toList();
    }
}
