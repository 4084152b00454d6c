package org.expertpool.pool.policy;

import java.util.Arrays;
import java.util.Optional;

/** First in, first out: the victim is the row with the smallest {@code (clock of promotion, row)}. Keeps no counts. */
final class FifoOrder implements EvictionOrder {
    private final PoolState state;
    private final long[] promotedAt; // [L*n]

    FifoOrder(PoolState state) {
        this.state = state;
        promotedAt = new long[state.rowKey.length];
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(
                DeviceState.of(new DeviceState.Array("promotedAt", DeviceState.Entry.I64, promotedAt.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(promotedAt, 0);
    }

    @Override
    public void hit(int row, int key, float weight) {
        // Use changes nothing.
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        return state.leastPriority(group, usedBefore, promotedAt);
    }

    @Override
    public void promoted(int row) {
        promotedAt[row] = state.clock;
    }
}
