package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;
import java.util.Optional;

/**
 * Least frequently used: the victim is the row with the smallest {@code (count of its owner, last use, row)}. Counts are of
 * selections, hits and misses, and survive eviction. With halving every {@code period} forwards all counts are halved,
 * rounded down; without, they never age.
 *
 * <p>Device form: {@code count[key]} (i32, stops at its largest value) and {@code halvings[key]} (i32, how often the group's
 * clock had halved when it was written); a count is read as {@code count >> (halvings now - halvings then)}.
 *
 * <p>Source: least frequently used, textbook; halving all counts by age as in LFU with aging (Arlitt et al., 2000).
 */
final class LfuOrder implements EvictionOrder {
    private static final int NEVER = 0;

    private final PoolState state;
    private final int period;
    private final int[] count; // [L*E]
    private final int[] halvings; // [L*E] that count has gone through

    private LfuOrder(PoolState state, int period) {
        this.state = state;
        this.period = period;
        count = new int[state.hotRow.length];
        halvings = new int[state.hotRow.length];
    }

    static LfuOrder neverAged(PoolState state) {
        return new LfuOrder(state, NEVER);
    }

    /** @param period forwards between halvings, at least 1 */
    static LfuOrder halved(PoolState state, int period) {
        return new LfuOrder(state, period);
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(
                new DeviceState.Array("count", DeviceState.Entry.I32, count.length),
                new DeviceState.Array("halvings", DeviceState.Entry.I32, period == NEVER ? 0 : halvings.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(count, 0);
        Arrays.fill(halvings, 0);
    }

    private int halvingsNow() {
        return period == NEVER ? 0 : state.forwards / period;
    }

    private int count(int key, int now) {
        return count[key] >> Math.min(31, now - halvings[key]);
    }

    @Override
    public void hit(int row, int key, float weight) {
        use(key);
    }

    @Override
    public void missed(int key, float weight) {
        use(key);
    }

    private void use(int key) {
        int now = halvingsNow();
        count[key] = Math.min(Integer.MAX_VALUE - 1, count(key, now)) + 1;
        halvings[key] = now;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        int now = halvingsNow();
        int best = ABSENT;
        int least = Integer.MAX_VALUE;
        for (int row = state.firstFreeRow(group); row < state.endRow(group); row++) {
            int rowCount = count(state.rowKey[row], now);
            boolean less =
                    rowCount < least || best == ABSENT || (rowCount == least && state.rowUse[row] < state.rowUse[best]);
            if (less && state.rowUse[row] < usedBefore) {
                least = rowCount;
                best = row;
            }
        }
        return best;
    }

    @Override
    public void promoted(int row) {
        // The count is the key's, wherever it is.
    }
}
