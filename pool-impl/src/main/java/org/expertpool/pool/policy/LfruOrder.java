package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;
import java.util.Optional;

/**
 * Least frequently and recently used: the victim is the row with the smallest {@code (score, row)}, where a score is
 * {@code count / (now - last use + 1)} in forwards. Counts are of selections, hits and misses, and survive eviction.
 *
 * <p>Device form: {@code count[key]} (i32, stops at its largest value) and {@code lastForward[key]} (i32). Scores are
 * compared without division, {@code count * other age < other count * age} in i64: exact, since both factors are below 2^31.
 *
 * <p>Source: the score of vLLM pull request 37190 (a cache of N rows a layer, planned on the host).
 */
final class LfruOrder implements EvictionOrder {
    private final PoolState state;
    private final int[] count; // [L*E]
    private final int[] lastForward; // [L*E]

    LfruOrder(PoolState state) {
        this.state = state;
        count = new int[state.hotRow.length];
        lastForward = new int[state.hotRow.length];
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(
                new DeviceState.Array("count", DeviceState.Entry.I32, count.length),
                new DeviceState.Array("lastForward", DeviceState.Entry.I32, lastForward.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(count, 0);
        Arrays.fill(lastForward, 0);
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
        count[key] = Math.min(Integer.MAX_VALUE - 1, count[key]) + 1;
        lastForward[key] = state.forwards;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        int best = ABSENT;
        long bestCount = 0;
        long bestAge = 0;
        for (int row = state.firstFreeRow(group); row < state.endRow(group); row++) {
            int owner = state.rowKey[row];
            long age = state.forwards - lastForward[owner] + 1L;
            boolean less = best == ABSENT || count[owner] * bestAge < bestCount * age;
            if (less && state.rowUse[row] < usedBefore) {
                best = row;
                bestCount = count[owner];
                bestAge = age;
            }
        }
        return best;
    }

    @Override
    public void promoted(int row) {
        // Count and age are the key's, wherever it is.
    }
}
