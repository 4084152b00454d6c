package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PoolState.ABSENT;

import java.util.Arrays;

/** Linked lists over the numbers {@code 0..items-1}, each in one list at most; the oldest entry of a list is its first. */
final class IndexLists {
    private final int items;
    private final int[] next; // [items + lists] entry items + l is the head of list l's circle
    private final int[] previous; // [items + lists]
    private final int[] listOf; // [items] or ABSENT
    private final int[] size; // [lists]

    IndexLists(int items, int lists) {
        this.items = items;
        next = new int[items + lists];
        previous = new int[items + lists];
        listOf = new int[items];
        size = new int[lists];
        clear();
    }

    void clear() {
        Arrays.fill(listOf, ABSENT);
        Arrays.fill(size, 0);
        for (int head = items; head < next.length; head++) {
            next[head] = head;
            previous[head] = head;
        }
    }

    int size(int list) {
        return size[list];
    }

    /** The list that holds the item, or ABSENT. */
    int listOf(int item) {
        return listOf[item];
    }

    /** The oldest item, or ABSENT. */
    int first(int list) {
        return orAbsent(next[items + list]);
    }

    /** The next newer item of the same list, or ABSENT. */
    int after(int item) {
        return orAbsent(next[item]);
    }

    private int orAbsent(int item) {
        return item < items ? item : ABSENT;
    }

    /** Makes the item the newest of the list, wherever it was. */
    void append(int list, int item) {
        if (listOf[item] != ABSENT) {
            remove(item);
        }
        int head = items + list;
        int last = previous[head];
        next[last] = item;
        previous[item] = last;
        next[item] = head;
        previous[head] = item;
        listOf[item] = list;
        size[list]++;
    }

    /** Takes the item out of its list. */
    void remove(int item) {
        next[previous[item]] = next[item];
        previous[next[item]] = previous[item];
        size[listOf[item]]--;
        listOf[item] = ABSENT;
    }

    /** Takes out the oldest items until the list holds at most so many. */
    void trim(int list, int atMost) {
        while (size[list] > atMost) {
            remove(first(list));
        }
    }
}
