package org.expertpool.harness.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Tells topK from a flat stream's own numbers: with the right stride the layers count 0, 1, .. and start again, and no
 * event has an expert twice. Only one stride may fit; else topK must be given.
 */
final class StrideGuess {
    private static final int MOST_NUMBERS = 1 << 20;
    private static final int MOST_TOP_K = 1024;

    private long[] numbers = new long[1 << 10];
    private int count;

    boolean wants() {
        return count < MOST_NUMBERS;
    }

    void add(long number) {
        if (count == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * count);
        }
        numbers[count++] = number;
    }

    /** The one topK that fits, with a notice. */
    int topK(TextFile file, TraceOptions options) {
        List<Integer> fitting = new ArrayList<>();
        for (int topK = 1; topK <= Math.min(MOST_TOP_K, count - 1); topK++) {
            if (fits(topK + 1, options.layers().orElse(0))) {
                fitting.add(topK);
            }
        }
        if (fitting.size() != 1) {
            String found = fitting.isEmpty()
                    ? "no number of experts per event fits"
                    : "events of "
                            + fitting.stream().map(String::valueOf).collect(Collectors.joining(" or "))
                            + " experts fit";
            throw file.bad(1, found + ", expected top_k (--top-k) with a flat stream");
        }
        options.notices().accept(file.path() + ": no top_k given; the layer numbers fit " + fitting.get(0));
        return fitting.get(0);
    }

    private boolean fits(int stride, int layersGiven) {
        boolean whole = wants();
        if (whole && count % stride != 0) {
            return false;
        }
        int layers = layersGiven;
        long layer = -1;
        for (int i = 0; i + stride <= count; i += stride) {
            long next = numbers[i];
            if (next == 0 && layer >= 0 && layers == 0) {
                layers = (int) layer + 1;
            }
            if (next != (layer + 1 == layers || layer < 0 ? 0 : layer + 1) || repeats(i + 1, i + stride)) {
                return false;
            }
            layer = next;
        }
        return !whole || layers == 0 || layer == layers - 1;
    }

    private boolean repeats(int from, int to) {
        for (int i = from; i < to; i++) {
            for (int j = from; j < i; j++) {
                if (numbers[i] == numbers[j]) {
                    return true;
                }
            }
        }
        return false;
    }
}
