package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Optional;

/**
 * Random: every row that the event does not use is as likely. The n-th promotion draws from a hash of (seed, n), so that a
 * run is repeatable and the state is one counter. Keeps no counts.
 */
final class RandomOrder implements EvictionOrder {
    private final PoolState state;
    private final CounterRandom random;

    RandomOrder(PoolState state, long seed) {
        this.state = state;
        random = new CounterRandom(seed);
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(new DeviceState.Array("draws", DeviceState.Entry.I64, 1)));
    }

    @Override
    public void reset() {
        random.reset();
    }

    @Override
    public void hit(int row, int key, float weight) {
        // What is used says nothing.
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        int eligible = 0;
        for (int row = state.firstFreeRow(group); row < state.endRow(group); row++) {
            eligible += state.rowUse[row] < usedBefore ? 1 : 0;
        }
        if (eligible == 0) {
            return ABSENT;
        }
        int skip = random.below(eligible);
        int row = state.firstFreeRow(group);
        while (state.rowUse[row] >= usedBefore || skip-- > 0) {
            row++;
        }
        return row;
    }

    @Override
    public void promoted(int row) {
        random.advance();
    }
}
