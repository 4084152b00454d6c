package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class ParallelTest {
    @Test
    void runsTheBodyOnceForEachIndex() {
        AtomicIntegerArray runs = new AtomicIntegerArray(1000);
        Parallel.forEach(1000, runs::incrementAndGet);
        for (int index = 0; index < runs.length(); index++) {
            assertThat(runs.get(index)).isEqualTo(1);
        }
    }

    @RepeatedTest(20)
    void noThreadIsInTheBodyAfterAFailure() {
        AtomicInteger inside = new AtomicInteger();
        assertThatThrownBy(() -> Parallel.forEach(200, index -> {
                    inside.incrementAndGet();
                    try {
                        if (index % 50 == 7) {
                            throw new IllegalStateException("index " + index);
                        }
                        Thread.sleep(1);
                    } catch (InterruptedException interrupted) {
                        Thread.currentThread().interrupt();
                    } finally {
                        inside.decrementAndGet();
                    }
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching("index (7|57|107|157)");
        assertThat(inside).hasValue(0);
    }
}
