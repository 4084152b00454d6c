package org.expertpool.harness.sim;

import java.util.ArrayList;
import java.util.List;

/** A growing list of ints, past 2^31 entries if the heap allows; four bytes an entry, never copied. */
final class IntChunks {
    private static final int CHUNK_BITS = 16;
    private static final int CHUNK_SIZE = 1 << CHUNK_BITS;

    private final List<int[]> chunks = new ArrayList<>();
    private long size;

    long size() {
        return size;
    }

    void clear() {
        chunks.clear();
        size = 0;
    }

    void add(int value) {
        if (size >>> CHUNK_BITS == chunks.size()) {
            chunks.add(new int[CHUNK_SIZE]);
        }
        set(size++, value);
    }

    void set(long index, int value) {
        chunks.get((int) (index >>> CHUNK_BITS))[(int) index & CHUNK_SIZE - 1] = value;
    }

    int get(long index) {
        return chunks.get((int) (index >>> CHUNK_BITS))[(int) index & CHUNK_SIZE - 1];
    }
}
