package org.expertpool.pool.policy;

import java.util.Arrays;
import java.util.Optional;

/**
 * Promotes a miss that is at least the n-th selection of its key within a window: the (n-1)-th selection before this one
 * lies at most {@code window} forwards back. Hits and misses count, and so survive eviction.
 *
 * <p>Device form: {@code touch[key * n + i]} (i32), the forwards of the last n selections, newest first; 0 for none.
 *
 * <p>Source: admission at the second use within a window, as 2Q (Johnson and Shasha, VLDB 1994) asks of its main queue; measured for expert pools as "2-in-8" (everett6).
 */
final class NthTouchRule implements PromotionRule {
    private final PoolState state;
    private final int touches;
    private final int windowForwards;
    private final int[] touch; // [L*E * touches]

    NthTouchRule(PoolState state, int touches, int windowForwards) {
        this.state = state;
        this.touches = touches;
        this.windowForwards = windowForwards;
        touch = new int[Math.multiplyExact(state.hotRow.length, touches)];
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(new DeviceState.Array("touch", DeviceState.Entry.I32, touch.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(touch, 0);
    }

    @Override
    public void selected(int key, float weight) {
        int first = key * touches;
        for (int i = first + touches - 1; i > first; i--) {
            touch[i] = touch[i - 1];
        }
        touch[first] = state.forwards;
    }

    @Override
    public boolean admits(int key, float weight) {
        int oldest = touch[key * touches + touches - 1];
        return oldest > 0 && state.forwards - oldest <= windowForwards;
    }
}
