package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/**
 * W-TinyLFU (Einziger, Friedman and Manes, 2017): missing keys enter a small LRU window; what leaves it enters the main part
 * only if its count is above that of the main part's victim, else it is evicted itself. The main part is a segmented LRU:
 * a hit in probation is protected, up to four fifths of it, and probation's oldest is the victim. Counts of selections stop
 * at 15, are exact instead of a sketch, survive eviction, and are halved every ten selections per row.
 *
 * <p>Rows that the event uses are passed over: if all of the window is in use the main part's victim goes, so the window
 * grows to the misses of an event where those are more than its size. All rows start in probation, and
 * while rows are without owner what leaves the window enters the main part.
 */
final class WTinyLfuOrder implements EvictionOrder {
    private static final int WINDOW = 0;
    private static final int PROBATION = 1;
    private static final int PROTECTED = 2;
    private static final int MOST = 15;

    private final PoolState state;
    private final int windowPercent;
    private final RowQueues queues;
    private final byte[] count; // [L*E] 0 to 15
    private final long[] selections; // [groups] since the last halving
    private boolean replaced; // the row that is being promoted had an owner
    private int winner; // the window's oldest row, if it beats the victim and is to move to the main part

    WTinyLfuOrder(PoolState state, int windowPercent) {
        this.state = state;
        this.windowPercent = windowPercent;
        queues = new RowQueues(state, 3);
        count = new byte[state.hotRow.length];
        selections = new long[state.groups];
        reset();
    }

    @Override
    public void reset() {
        queues.reset(PROBATION);
        Arrays.fill(count, (byte) 0);
        Arrays.fill(selections, 0);
        winner = ABSENT;
        replaced = false;
    }

    private int windowRows(int group) {
        return (int) Math.max(1, (long) state.freeRows(group) * windowPercent / 100);
    }

    @Override
    public void hit(int row, int key, float weight) {
        use(key);
        if (queues.isIn(WINDOW, row)) {
            queues.append(WINDOW, row);
            return;
        }
        queues.append(PROTECTED, row);
        int group = state.groupOf(row);
        int protectedRows = (state.freeRows(group) - windowRows(group)) * 4 / 5;
        if (queues.size(group, PROTECTED) > protectedRows) {
            queues.append(PROBATION, queues.first(group, PROTECTED));
        }
    }

    @Override
    public void missed(int key, float weight) {
        use(key);
    }

    private void use(int key) {
        if (count[key] < MOST) {
            count[key]++;
        }
        selections[state.groups == 1 ? 0 : key / state.config().experts()]++;
    }

    @Override
    public int victim(int group, int key, long usedBefore) {
        winner = ABSENT;
        int victim = queues.oldest(group, PROBATION, PROTECTED, usedBefore);
        if (queues.size(group, WINDOW) < windowRows(group) && victim != ABSENT) {
            return victim;
        }
        int candidate = queues.oldest(group, WINDOW, usedBefore);
        if (candidate == ABSENT || victim == ABSENT) {
            return candidate == ABSENT ? victim : candidate;
        }
        if (count[state.rowKey[candidate]] <= count[state.rowKey[victim]]) {
            return candidate;
        }
        winner = candidate;
        return victim;
    }

    @Override
    public void evicted(int row) {
        queues.remove(row);
        replaced = true;
        if (winner != ABSENT) {
            queues.append(PROBATION, winner);
        }
    }

    @Override
    public void promoted(int row) {
        queues.append(WINDOW, row);
        int group = state.groupOf(row);
        if (!replaced && queues.size(group, WINDOW) > windowRows(group)) {
            queues.append(PROBATION, queues.first(group, WINDOW));
        }
        replaced = false;
    }

    @Override
    public void endStep(int group) {
        if (selections[group] < 10L * state.freeRows(group)) {
            return;
        }
        selections[group] = 0;
        for (int key = state.firstKey(group); key < state.endKey(group); key++) {
            count[key] >>= 1;
        }
    }

    @Override
    public void check() {
        queues.check();
    }
}
