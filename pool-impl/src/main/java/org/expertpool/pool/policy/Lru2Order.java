package org.expertpool.pool.policy;

import java.util.Arrays;
import java.util.Optional;

/**
 * LRU-2 (O'Neil et al., SIGMOD 1993): the victim is the row whose owner's second-last use is oldest, then the lowest row. A
 * key used once has no second-last use, which is older than any. Both stamps survive eviction.
 */
final class Lru2Order implements EvictionOrder {
    private final PoolState state;
    private final long[] lastUse; // [L*E] clock
    private final long[] secondLastUse; // [L*E] clock
    private final long[] priority; // [L*n] the owner's second-last use

    Lru2Order(PoolState state) {
        this.state = state;
        lastUse = new long[state.hotRow.length];
        secondLastUse = new long[state.hotRow.length];
        priority = new long[state.rowKey.length];
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(
                new DeviceState.Array("lastUse", DeviceState.Entry.I64, lastUse.length),
                new DeviceState.Array("secondLastUse", DeviceState.Entry.I64, secondLastUse.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(lastUse, 0);
        Arrays.fill(secondLastUse, 0);
        Arrays.fill(priority, 0);
    }

    @Override
    public void hit(int row, int key, float weight) {
        use(key);
        priority[row] = secondLastUse[key];
    }

    @Override
    public void missed(int key, float weight) {
        use(key);
    }

    private void use(int key) {
        secondLastUse[key] = lastUse[key];
        lastUse[key] = state.clock;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        return state.leastPriority(group, usedBefore, priority);
    }

    @Override
    public void promoted(int row) {
        priority[row] = secondLastUse[state.rowKey[row]];
    }
}
