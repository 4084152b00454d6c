package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Periodic exchange by heat with hysteresis, the public proposal's first tier: misses are always staged; selections add 1 to
 * a key's heat, which decays with every forward, and survives eviction. Every {@code period} forwards the hottest keys
 * outside are paired with the coldest residents of their group, as far as they are hotter by more than the hysteresis
 * factor; after each forward up to {@code budget} pairs, those with the hottest key first, are exchanged. Equal heats: the
 * lower key comes in first, the lower row goes first. A resident that the forward's last event uses waits for the next.
 */
final class HeatExchangePolicy implements PlacementPolicy {
    private static final double RESCALE_ABOVE = 0x1p500;
    private static final double RESCALE = 0x1p-500;

    private final PoolState state;
    private final double decay;
    private final int periodForwards;
    private final double hysteresis;
    private final int budget;
    private final double[] heat; // [L*E] in units of decay^-forward
    private final Deque<Exchange> planned = new ArrayDeque<>();
    private double unit; // what a selection of the current forward adds

    private record Exchange(int key, int row) {}

    HeatExchangePolicy(PolicySetup setup, double decay, int periodForwards, double hysteresis, int budget) {
        state = new PoolState(setup);
        this.decay = decay;
        this.periodForwards = periodForwards;
        this.hysteresis = hysteresis;
        this.budget = budget;
        heat = new double[state.hotRow.length];
        reset();
    }

    @Override
    public void step(RoutingEvent event, StepTally tally) {
        state.clock++;
        if (event.layer == 0) {
            state.forwards++;
            nextUnit();
        }
        int firstKey = event.layer * state.config().experts();
        for (int i = 0; i < event.size; i++) {
            int key = firstKey + event.experts[i];
            heat[key] += unit;
            int row = state.hotRow[key];
            if (row == ABSENT) {
                tally.staged++;
            } else {
                tally.hits++;
                state.rowUse[row] = state.clock;
            }
        }
        if (event.layer == state.config().layers() - 1) {
            endForward(tally);
        }
    }

    private void nextUnit() {
        unit /= decay;
        if (unit > RESCALE_ABOVE) {
            unit *= RESCALE;
            Arrays.setAll(heat, key -> heat[key] * RESCALE);
        }
    }

    private void endForward(StepTally tally) {
        if (state.forwards % periodForwards == 0) {
            plan();
        }
        int left = budget;
        Deque<Exchange> waiting = new ArrayDeque<>();
        while (left > 0 && !planned.isEmpty()) {
            Exchange next = planned.removeFirst();
            if (state.rowKey[next.row] != ABSENT && state.rowUse[next.row] == state.clock) {
                waiting.addLast(next);
                continue;
            }
            state.own(next.key, next.row);
            tally.exchanged++;
            left--;
        }
        while (!waiting.isEmpty()) {
            planned.addFirst(waiting.removeLast());
        }
    }

    private void plan() {
        planned.clear();
        Comparator<Integer> hottest =
                Comparator.comparingDouble((Integer key) -> -heat[key]).thenComparing(Comparator.naturalOrder());
        IntStream.range(0, state.groups)
                .boxed()
                .flatMap(group -> pairs(group, hottest).stream())
                .sorted(Comparator.comparing(Exchange::key, hottest))
                .forEach(planned::addLast);
    }

    private List<Exchange> pairs(int group, Comparator<Integer> hottest) {
        List<Integer> outside = IntStream.range(state.firstKey(group), state.endKey(group))
                .filter(key -> state.hotRow[key] == ABSENT && heat[key] > 0)
                .boxed()
                .sorted(hottest)
                .collect(Collectors.toList());
        List<Integer> coldest = IntStream.range(state.firstRow(group), state.endRow(group))
                .boxed()
                .sorted(Comparator.comparingDouble((Integer row) -> heatOf(row))
                        .thenComparing(Comparator.naturalOrder()))
                .collect(Collectors.toList());
        return IntStream.range(0, Math.min(outside.size(), coldest.size()))
                .takeWhile(i -> heat[outside.get(i)] > hysteresis * heatOf(coldest.get(i)))
                .mapToObj(i -> new Exchange(outside.get(i), coldest.get(i)))
                .collect(Collectors.toList());
    }

    private double heatOf(int row) {
        return state.rowKey[row] == ABSENT ? -1 : heat[state.rowKey[row]];
    }

    @Override
    public int row(int layer, int expert) {
        return state.hotRow[layer * state.config().experts() + expert];
    }

    @Override
    public void reset() {
        state.reset();
        Arrays.fill(heat, 0);
        planned.clear();
        unit = 1;
    }

    @Override
    public void check() {
        state.check();
    }
}
