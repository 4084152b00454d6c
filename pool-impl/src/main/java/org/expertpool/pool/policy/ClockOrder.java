package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;
import java.util.Optional;

/**
 * CLOCK (Corbato): a hit sets the row's reference bit; the hand goes round the rows, clears bits that are set, and gives up
 * the first row whose bit is clear. A promoted row starts with a clear bit. The hand passes over rows that the event uses
 * and leaves their bits. Keeps no counts.
 *
 * <p>Device form: {@code referenced[row]} (one bit) and {@code hand[group]} (i32). The hand stops at the victim and steps
 * past it when the row changes owner, so asking twice gives the same row.
 */
final class ClockOrder implements EvictionOrder {
    private final PoolState state;
    private final boolean[] referenced; // [L*n]
    private final int[] hand; // [groups] the row that is looked at next

    ClockOrder(PoolState state) {
        this.state = state;
        referenced = new boolean[state.rowKey.length];
        hand = new int[state.groups];
        reset();
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(
                new DeviceState.Array("referenced", DeviceState.Entry.BIT, referenced.length),
                new DeviceState.Array("hand", DeviceState.Entry.I32, hand.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(referenced, false);
        Arrays.setAll(hand, state::firstFreeRow);
    }

    @Override
    public void hit(int row, int key, float weight) {
        referenced[row] = true;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        // In two rounds every row that may go has had its bit cleared and been looked at again.
        for (int looked = 2 * state.freeRows(group); looked > 0; looked--) {
            int row = hand[group];
            if (state.rowUse[row] < usedBefore) {
                if (!referenced[row]) {
                    return row;
                }
                referenced[row] = false;
            }
            hand[group] = after(group, row);
        }
        return ABSENT;
    }

    private int after(int group, int row) {
        return row + 1 == state.endRow(group) ? state.firstFreeRow(group) : row + 1;
    }

    @Override
    public void evicted(int row) {
        hand[state.groupOf(row)] = after(state.groupOf(row), row);
    }

    @Override
    public void promoted(int row) {
        referenced[row] = false;
    }
}
