package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.expertpool.pool.PoolFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each invariant, broken alone. L=2, E=4, n=2: keys 0..7, pool rows 0..3, staging rows 4 and 5. */
class TableCheckTest {
    static Stream<Arguments> damages() {
        return Stream.of(
                damage(t -> t.coldRow[1] = 1, "layer 0 expert 1: hotRow 1 and coldRow 1, expected exactly one of them"),
                damage(t -> t.coldRow[7] = -1, "layer 1 expert 3: hotRow -1 and coldRow -1"),
                damage(t -> t.coldRow[7] = 2, "layer 1 expert 3: coldRow 2, expected 3"),
                damage(t -> t.hotRow[1] = 4, "layer 0 expert 1: hotRow 4, expected a pool row below 4"),
                damage(t -> t.hotRow[1] = -2, "layer 0 expert 1: hotRow -2, expected a pool row"),
                damage(t -> t.hotRow[1] = 0, "layer 0 expert 1: hotRow 0, whose owner is key 0"),
                damage(t -> t.rowKey[2] = 5, "layer 1 expert 0: hotRow 2, whose owner is key 5"),
                damage(
                        t -> {
                            t.hotRow[5] = -1;
                            t.coldRow[5] = 1;
                        },
                        "row 3: owner key 5 does not have this row"),
                damage(
                        t -> {
                            t.hotRow[5] = -1;
                            t.coldRow[5] = 1;
                            t.rowKey[3] = 8;
                        },
                        "row 3: owner key 8 does not have this row"),
                damage(t -> t.rowKey[4] = 3, "staging row 4: owner key 3"),
                damage(t -> t.rowUse[5] = 0, "staging row 5: owner key -1, use 0"),
                damage(t -> t.rowUse[1] = 1, "row 1: use 1 is after clock 0"));
    }

    @ParameterizedTest
    @MethodSource("damages")
    void namesTheFirstBrokenInvariant(Consumer<PoolTables> damage, String message) {
        PoolTables tables = new PoolTables(new PoolConfig(2, 4, 2, 2, 1));
        assertThat(TableCheck.firstViolation(tables)).isEmpty();
        TableCheck.require(tables);
        damage.accept(tables);
        assertThat(TableCheck.firstViolation(tables).orElseThrow()).startsWith(message);
        assertThatThrownBy(() -> TableCheck.require(tables))
                .isInstanceOf(PoolFailureException.class)
                .hasMessageStartingWith("table check: " + message);
    }

    @Test
    void aSetErrorFailsTheWholeCheckAlone() {
        PoolTables tables = new PoolTables(new PoolConfig(2, 4, 2, 2, 1));
        tables.error = 1;
        assertThat(TableCheck.firstViolation(tables)).isEmpty();
        assertThatThrownBy(() -> TableCheck.require(tables)).hasMessageContaining("error is 1, expected 0");
    }

    private static Arguments damage(Consumer<PoolTables> damage, String message) {
        return arguments(damage, message);
    }
}
