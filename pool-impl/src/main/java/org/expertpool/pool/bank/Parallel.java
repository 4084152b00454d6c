package org.expertpool.pool.bank;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** A parallel loop whose end, by a failure too, no thread outlasts: what the loop wrote to may then be freed. */
final class Parallel {
    private Parallel() {}

    /** Runs the body for 0 to {@code count - 1}; after a failure begins no more, and throws the first. */
    static void forEach(int count, IntConsumer body) {
        AtomicReference<RuntimeException> first = new AtomicReference<>();
        IntStream.range(0, count).parallel().forEach(index -> {
            try {
                if (first.get() == null) {
                    body.accept(index);
                }
            } catch (RuntimeException failure) {
                first.compareAndSet(null, failure);
            }
        });
        if (first.get() != null) {
            throw first.get();
        }
    }
}
