package org.expertpool.pool.policy;

import java.util.Arrays;

/**
 * A heap of pool rows whose top has the latest next use, the lower row where two are equal. Rows can be taken out or
 * given another next use wherever they stand. One heap holds the rows of one group.
 */
final class RowHeap {
    private static final int OUTSIDE = -1;

    private final int firstRow;
    private final int[] heap; // [rows] row at each place
    private final int[] place; // [rows] place of row firstRow + i, or OUTSIDE
    private final int[] nextUse; // [rows] of row firstRow + i
    private int size;

    RowHeap(int firstRow, int rows) {
        this.firstRow = firstRow;
        heap = new int[rows];
        place = new int[rows];
        nextUse = new int[rows];
        clear();
    }

    void clear() {
        size = 0;
        Arrays.fill(place, OUTSIDE);
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** The row with the latest next use. */
    int top() {
        return heap[0];
    }

    int topNextUse() {
        return nextUse[heap[0] - firstRow];
    }

    /** Puts the row in with this next use, or moves it if it is in. */
    void put(int row, int rowNextUse) {
        nextUse[row - firstRow] = rowNextUse;
        int at = place[row - firstRow];
        if (at == OUTSIDE) {
            at = size++;
        }
        settle(row, at);
    }

    /** Takes out a row that is in. */
    void remove(int row) {
        int at = place[row - firstRow];
        place[row - firstRow] = OUTSIDE;
        int last = heap[--size];
        if (last != row) {
            settle(last, at);
        }
    }

    /** Finds the place of the row, from a free one. */
    private void settle(int row, int from) {
        int at = from;
        while (at > 0 && above(row, heap[(at - 1) / 2])) {
            at = move(heap[(at - 1) / 2], at, (at - 1) / 2);
        }
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && above(heap[child + 1], heap[child])) {
                child++;
            }
            if (!above(heap[child], row)) {
                break;
            }
            at = move(heap[child], at, child);
        }
        heap[at] = row;
        place[row - firstRow] = at;
    }

    private int move(int row, int to, int freed) {
        heap[to] = row;
        place[row - firstRow] = to;
        return freed;
    }

    private boolean above(int row, int other) {
        int mine = nextUse[row - firstRow];
        int others = nextUse[other - firstRow];
        return mine > others || (mine == others && row < other);
    }
}
